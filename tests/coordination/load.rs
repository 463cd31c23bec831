//! Many processes on one database: each gets a fair share.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use n8n_lens::coordination::store::{Clock, DatabaseLocation};
use n8n_lens::coordination::tools::TOOLS;
use n8n_lens::coordination::{Caller, Coordinator, SessionPolicy, Settings};
use serde_json::{Value, json};

use crate::database::{Database, Kind};
use crate::harness::{CHEAP, Harness, run};

pub fn every_process_gets_a_fair_share(kind: Kind) {
    shares(kind, 8, Duration::from_secs(3));
}

pub fn each_of_32_processes_gets_a_fair_share_for_a_minute(kind: Kind) {
    shares(kind, 32, Duration::from_secs(60));
}

/// The figures of one process.
struct Report {
    claims: u64,
    /// 99th percentile and maximum, in ms.
    p99: f64,
    max: f64,
}

fn shares(kind: Kind, processes: usize, time: Duration) {
    let database = Database::new(kind);
    run(async { Harness::open(&database).await.people(1, processes).await });
    let start = |agent: usize| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["worker", &database.argument, &agent.to_string(), &time.as_millis().to_string()]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<_> = (0..processes).map(start).collect();
    let reports: Vec<_> = started.into_iter().map(|process| report(process.wait_with_output().unwrap())).collect();
    let total: u64 = reports.iter().map(|report| report.claims).sum();
    let slowest = reports.iter().map(|report| report.claims).min().unwrap();
    let mean = total / processes as u64;
    let worst = |figure: fn(&Report) -> f64| reports.iter().map(figure).fold(0.0, f64::max);
    print_figure!(
        "{kind:?}: {processes} processes, {total} claims, {} a second; the slowest got {slowest} of {mean} in the mean; p99 {:.1} ms, max {:.0} ms",
        total / time.as_secs().max(1),
        worst(|report| report.p99),
        worst(|report| report.max)
    );
    assert!(slowest * 4 >= mean, "the slowest got {slowest} of {mean}");
}

fn report(output: std::process::Output) -> Report {
    assert!(output.status.success());
    let figures = String::from_utf8(output.stdout).unwrap();
    let figures: Value = serde_json::from_str(figures.trim()).unwrap();
    let figure = |name: &str| figures[name].as_f64().unwrap();
    Report { claims: figures["claims"].as_u64().unwrap(), p99: figure("p99"), max: figure("max") }
}

/// The main function of a process: authenticates its agent and logs out, again and again. Any error ends it.
pub fn worker(arguments: &[String]) {
    let [database, agent, time] = arguments else { panic!("{arguments:?}") };
    let time = Duration::from_millis(time.parse().unwrap());
    run(async {
        let settings = Settings {
            location: DatabaseLocation::parse(database).unwrap(),
            create: true,
            connections: 2,
            policy: SessionPolicy::default(),
            cost: CHEAP,
            clock: Clock::Database,
        };
        let coordinator = Coordinator::open(&settings).await.unwrap();
        let who = json!({"agent_id": format!("agt_{agent}"), "passkey": format!("key_{agent}"), "project_id": "prj_0"});
        let (mut times, begun) = (Vec::new(), Instant::now());
        while begun.elapsed() < time {
            let claim = Instant::now();
            let session = call(&coordinator, "authenticate", who.clone()).await;
            times.push(claim.elapsed().as_secs_f64() * 1000.0);
            call(&coordinator, "logout", json!({"session_token": session["session_token"]})).await;
        }
        times.sort_by(f64::total_cmp);
        let (p99, max) = (times[times.len() * 99 / 100], times[times.len() - 1]);
        println!("{}", json!({"claims": times.len(), "p99": p99, "max": max}));
    });
}

async fn call(coordinator: &std::sync::Arc<Coordinator>, tool: &str, arguments: Value) -> Value {
    let tool = TOOLS.iter().find(|known| known.name == tool).unwrap();
    let Value::Object(arguments) = arguments else { panic!() };
    coordinator.call(tool, arguments, &Caller::Local).await.unwrap()
}
