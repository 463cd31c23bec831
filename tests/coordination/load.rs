//! Many processes on one database: each gets a fair share.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use n8n_lens::coordination::store::{Clock, DatabaseLocation};
use n8n_lens::coordination::tools::TOOLS;
use n8n_lens::coordination::{Caller, Coordinator, SessionPolicy, Settings};
use serde_json::{Value, json};

use crate::database::{Database, Kind};
use crate::harness::{CHEAP, Harness, run};
use crate::on_each_database;

#[test]
#[ignore = "long: minutes"]
fn each_of_32_processes_gets_a_fair_share_for_a_minute() {
    on_each_database(|kind| shares(kind, 32, Duration::from_secs(60)));
}

/// What a process does: its database, agent, time in ms, and the file for its report.
const WORK: &str = "COORDINATION_WORK";

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
        let report = database.folder.path().join(agent.to_string());
        let work = json!([database.argument, agent, time.as_millis() as u64, report]).to_string();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "load::worker"]).env(WORK, work).stdout(Stdio::null());
        (command.spawn().unwrap(), report)
    };
    let started: Vec<_> = (0..processes).map(start).collect();
    let reports: Vec<_> = started.into_iter().map(|(process, file)| report(process, &file)).collect();
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

fn report(mut process: Child, file: &Path) -> Report {
    assert!(process.wait().unwrap().success());
    let figures: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let figure = |name: &str| figures[name].as_f64().unwrap();
    Report { claims: figures["claims"].as_u64().unwrap(), p99: figure("p99"), max: figure("max") }
}

/// One process: authenticates its agent and logs out, again and again. Any error ends it.
#[test]
#[ignore = "a process of the tests above"]
fn worker() {
    let Ok(work) = std::env::var(WORK) else { return };
    let (database, agent, ms, report): (String, usize, u64, PathBuf) = serde_json::from_str(&work).unwrap();
    let time = Duration::from_millis(ms);
    run(async {
        let settings = Settings {
            location: DatabaseLocation::parse(&database).unwrap(),
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
        let figures = json!({"claims": times.len(), "p99": p99, "max": max});
        std::fs::write(report, figures.to_string()).unwrap();
    });
}

async fn call(coordinator: &std::sync::Arc<Coordinator>, tool: &str, arguments: Value) -> Value {
    let tool = TOOLS.iter().find(|known| known.name == tool).unwrap();
    let Value::Object(arguments) = arguments else { panic!() };
    coordinator.call(tool, arguments, &Caller::Local).await.unwrap()
}

/// What takes longer, and runs in CI.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: up to 30 s"]
    fn every_process_gets_a_fair_share() {
        on_each_database(|kind| shares(kind, 8, Duration::from_secs(3)));
    }
}
