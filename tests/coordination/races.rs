//! Of many concurrent calls, exactly one wins.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::database::{Database, Kind};
use crate::harness::{Harness, people, run};
use crate::http_client::HttpServer;
use crate::instance::{Instance, administer, administer_with, binary};
use crate::on_each_database;

const RUNNING: &str = "Agent instance already running for this project";

/// The number of rounds, and of concurrent calls in each.
struct Size {
    rounds: usize,
    racers: usize,
}

/// The number of successes; all other calls must report that an instance is running.
fn winners(answers: &[Value]) -> usize {
    let won = answers.iter().filter(|answer| answer["success"] == true).count();
    let refused = answers.iter().filter(|answer| answer["error"] == RUNNING).count();
    assert_eq!(won + refused, answers.len(), "another error: {answers:?}");
    won
}

fn token(answers: &[Value]) -> String {
    answers.iter().find_map(|answer| answer["session_token"].as_str()).unwrap().to_owned()
}

#[test]
fn one_of_many_wins() {
    on_each_database(|kind| race(kind, &[Size { rounds: 20, racers: 64 }, Size { rounds: 4, racers: 256 }]));
}

#[test]
#[ignore = "long: minutes"]
fn one_of_many_wins_a_thousand_times() {
    on_each_database(|kind| race(kind, &[Size { rounds: 1000, racers: 64 }, Size { rounds: 100, racers: 256 }]));
}

/// Every second session logs out; the others expire and are taken over.
fn race(kind: Kind, sizes: &[Size]) {
    let database = Database::new(kind);
    run(async {
        let harness = Harness::open(&database).await;
        harness.people(1, 1).await;
        let mut looks = 0;
        for round in sizes.iter().flat_map(|size| (0..size.rounds).map(|round| (round, size.racers))) {
            let (round, racers) = round;
            assert!(should_start(&harness).await, "no instance runs in round {round}");
            let answers = join_all((0..racers).map(|_| harness.authenticate(0, 0))).await;
            assert_eq!(winners(&answers), 1);
            for _ in 0..10 {
                assert!(!should_start(&harness).await, "an instance runs in round {round}");
                looks += 1;
            }
            let session = json!({ "session_token": token(&answers) });
            if round % 2 == 0 {
                assert_eq!(harness.call("logout", session).await["success"], true);
            } else {
                harness.pass(Duration::from_secs(3600));
                is_refused_everywhere(&harness, &token(&answers)).await;
            }
        }
        print_figure!("{kind:?}: should_start was right {looks} times while a session was open");
        assert_eq!(database.number("SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM events WHERE event_type = 'authenticated' GROUP BY entity_id) AS counts"), 1);
    });
}

async fn should_start(harness: &Harness) -> bool {
    harness.call("should_start", json!({"agent_id": "agt_0", "project_id": "prj_0"})).await["should_start"] == true
}

/// Every tool rejects a token that has ended.
pub async fn is_refused_everywhere(harness: &Harness, token: &str) {
    let calls = [
        ("logout", json!({ "session_token": token }), "Invalid or expired session_token"),
        ("get_my_task", json!({ "session_token": token }), "Invalid or expired session_token"),
        ("report_completed", json!({"session_token": token, "result": "success"}), "Invalid or expired session_token"),
        ("get_pending_tasks", json!({ "session_token": token }), "Invalid or expired session_token"),
        (
            "report_execution_start",
            json!({"session_token": token, "task_id": "tsk_0_0"}),
            "Invalid session_token or task_id",
        ),
        (
            "report_execution_complete",
            json!({"session_token": token, "execution_id": "exec_1", "exit_code": 0, "duration_seconds": 1.5, "log_file_path": ""}),
            "Invalid execution_id or session_token",
        ),
    ];
    for (tool, arguments, error) in calls {
        assert_eq!(harness.call(tool, arguments).await, json!({"success": false, "error": error}), "{tool}");
    }
}

#[test]
fn an_agent_can_run_in_a_hundred_projects() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        run(async {
            let harness = Harness::open(&database).await;
            harness.people(100, 1).await;
            let answers = join_all((0..100).map(|project| harness.authenticate(0, project))).await;
            assert!(answers.iter().all(|answer| answer["success"] == true), "{answers:?}");
        });
    });
}

#[test]
fn one_of_many_accepts() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        run(async {
            let harness = Harness::open(&database).await;
            harness.people(1, 65).await;
            let mut owner = 0;
            for round in 0..5 {
                let from = format!("agt_{owner}");
                let given = json!({"task_id": "tsk_0_0", "from_agent_id": from, "summary": format!("round {round}")});
                let created = harness.call("create_handoff", given).await;
                let id = created["handoff"]["id"].as_str().unwrap();
                let accept = |agent| {
                    harness.call("accept_handoff", json!({"handoff_id": id, "agent_id": format!("agt_{agent}")}))
                };
                let others: Vec<_> = (0..65).filter(|agent| *agent != owner).collect();
                let answers = join_all(others.iter().copied().map(accept)).await;
                let won: Vec<_> = (0..64).filter(|at| answers[*at]["success"] == true).collect();
                let refused = answers.iter().filter(|answer| answer["error"] == "Handoff already accepted").count();
                assert_eq!((won.len(), refused), (1, 63), "{answers:?}");
                let task = harness.call("get_task", json!({"task_id": "tsk_0_0"})).await;
                owner = others[won[0]];
                assert_eq!(task["task"]["assignee_id"], format!("agt_{owner}"));
            }
        });
    });
}

/// The obvious implementation fails such a race, so the races above can detect it.
#[test]
fn checking_before_inserting_has_many_winners() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        database.run("CREATE TABLE naive (round BIGINT, winner BIGINT)");
        let (threads, rounds) = (16, 5);
        let barrier = Barrier::new(threads);
        let racing = |winner: usize| {
            let mut connection = database.connect();
            for round in 0..rounds {
                barrier.wait();
                let taken = connection.number(&format!("SELECT COUNT(*) FROM naive WHERE round = {round}"));
                if taken == 0 {
                    connection.run(&format!("INSERT INTO naive VALUES ({round}, {winner})"));
                }
            }
        };
        std::thread::scope(|scope| {
            for winner in 0..threads {
                scope.spawn(move || racing(winner));
            }
        });
        let double = "SELECT COUNT(*) FROM (SELECT round FROM naive GROUP BY round HAVING COUNT(*) > 1) AS double";
        assert!(database.number(double) > 0, "the race detects nothing");
    });
}

/// Imports agents and projects, with real password hashes.
pub fn import(database: &Database, projects: usize, agents: usize) {
    administer_with(database, &["import", "-"], &people(projects, agents).to_string());
}

#[test]
#[ignore = "long: minutes"]
fn one_of_sixteen_processes_wins_for_a_minute() {
    on_each_database(|kind| of_processes(kind, |_, begun| begun.elapsed() < Duration::from_secs(60)));
}

fn of_processes(kind: Kind, goes_on: impl Fn(usize, Instant) -> bool) {
    let database = Database::new(kind);
    import(&database, 1, 1);
    let mut instances: Vec<_> = (0..16).map(|_| Instance::start(&database)).collect();
    let (mut round, begun) = (0, Instant::now());
    while goes_on(round, begun) {
        let arguments = json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0"});
        let calls = instances
            .iter_mut()
            .map(|instance| instance.mcp.send("tools/call", json!({"name": "authenticate", "arguments": arguments})));
        let ids: Vec<_> = calls.collect();
        let answers = instances.iter_mut().zip(ids).map(|(instance, id)| instance.mcp.answer(id));
        let answers: Vec<_> = answers.map(|answer| answer["result"]["structuredContent"].clone()).collect();
        assert_eq!(winners(&answers), 1);
        let ended = instances[round % 16].call("logout", json!({"session_token": token(&answers)}));
        assert_eq!(ended["success"], true, "any process can end the session");
        round += 1;
    }
    print_figure!("{kind:?}: {round} rounds of 16 processes");
}

#[test]
#[ignore = "long: minutes"]
fn one_of_three_replicas_wins_for_a_minute() {
    on_each_database(|kind| of_replicas(kind, |_, begun| begun.elapsed() < Duration::from_secs(60)));
}

fn of_replicas(kind: Kind, goes_on: impl Fn(usize, Instant) -> bool) {
    let database = Database::new(kind);
    import(&database, 1, 1);
    let issued = administer(&database, &["token", "issue", "--scope", "agent", "--agent", "agt_0"]);
    let bearer = format!("Bearer {}", issued["token"].as_str().unwrap());
    let servers: Vec<_> = (0..3).map(|_| serve(&database, &[])).collect();
    let (mut round, begun) = (0, Instant::now());
    while goes_on(round, begun) {
        let authenticate = |at: usize| {
            let arguments = json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0"});
            called(&servers[at % 3], &bearer, "authenticate", arguments)
        };
        let authenticate = &authenticate;
        let answers: Vec<_> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..24).map(|at| scope.spawn(move || authenticate(at))).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert_eq!(winners(&answers), 1);
        let ended = called(&servers[round % 3], &bearer, "logout", json!({"session_token": token(&answers)}));
        assert_eq!(ended["success"], true);
        round += 1;
    }
    print_figure!("{kind:?}: {round} rounds of 24 calls to three replicas");
}

/// Starts a server over HTTP.
pub fn serve(database: &Database, arguments: &[&str]) -> HttpServer {
    let mut command = binary();
    command.args(["coordinate", "--db", &database.argument, "--transport", "http", "--port", "0"]).args(arguments);
    HttpServer::spawn(&mut command)
}

/// Calls a tool over HTTP; returns its structured content.
pub fn called(server: &HttpServer, bearer: &str, tool: &str, arguments: Value) -> Value {
    let answer =
        server.request("tools/call", json!({"name": tool, "arguments": arguments}), &[("authorization", bearer)]);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.message()["result"]["structuredContent"].clone()
}

/// What takes longer, and runs in CI.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: up to 30 s"]
    fn one_of_sixteen_processes_wins() {
        on_each_database(|kind| of_processes(kind, |round, _| round < 3));
    }

    #[test]
    #[ignore = "slow: up to 30 s"]
    fn one_of_three_replicas_wins() {
        on_each_database(|kind| of_replicas(kind, |round, _| round < 2));
    }
}
