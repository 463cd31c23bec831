//! Floods of one client do not keep the others waiting.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use n8n_lens::coordination::store::Clock;
use n8n_lens::coordination::tools::TOOLS;
use n8n_lens::coordination::{Caller, Coordinator, SessionPolicy, Settings};
use serde_json::{Value, json};

use crate::database::{Database, Kind};
use crate::harness::{BEGIN, CHEAP, people, run};
use crate::http_client::{HttpServer, json_headers};
use crate::instance::{administer, administer_with};
use crate::on_each_database;
use crate::races::{called, import, serve};

/// The number of wrong passkeys sent at once.
const WRONG: usize = 200;

fn authenticate(server: &HttpServer, bearer: &str, agent: &str, passkey: &str) -> Value {
    called(server, bearer, "authenticate", json!({"agent_id": agent, "passkey": passkey, "project_id": "prj_0"}))
}

/// The tokens of two agents.
fn bearers(database: &Database) -> [String; 2] {
    ["agt_0", "agt_1"].map(|agent| {
        let issued = administer(database, &["token", "issue", "--scope", "agent", "--agent", agent]);
        format!("Bearer {}", issued["token"].as_str().unwrap())
    })
}

/// Counts the units of work that begin, and holds each of them until it is opened.
#[derive(Default)]
struct Gate {
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        drop(self.changed.wait_while(state, |(_, is_open)| !*is_open).unwrap());
    }

    fn set_open(&self, is_open: bool) {
        *self.state.lock().unwrap() = (0, is_open);
        self.changed.notify_all();
    }

    fn begun(&self) -> usize {
        self.state.lock().unwrap().0
    }
}

#[test]
fn a_call_counts_until_its_unit_of_work_has_ended() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        import(&database, 1, 2);
        let [flooding, other] = bearers(&database);
        run(async {
            let gate = Arc::new(Gate::default());
            gate.set_open(true);
            let clock = gate.clone();
            let now = move || {
                clock.pass();
                BEGIN
            };
            let settings = Settings {
                location: database.location(),
                create: false,
                connections: 4,
                policy: SessionPolicy::default(),
                cost: CHEAP,
                clock: Clock::Custom(Arc::new(now)),
            };
            let coordinator = &Coordinator::open(&settings).await.unwrap();
            let caller = async |bearer: &str| {
                Caller::from_token(coordinator, bearer.trim_start_matches("Bearer ")).await.unwrap().unwrap()
            };
            let (flooding, other) = (caller(&flooding).await, caller(&other).await);
            // Reads and writes have threads of their own on SQLite.
            let call = |tool: &str, caller: &Caller, arguments: Value| {
                let tool = TOOLS.iter().find(|known| known.name == tool).unwrap();
                let Value::Object(arguments) = arguments else { panic!("{arguments}") };
                let (coordinator, caller) = (coordinator.clone(), caller.clone());
                tokio::spawn(async move { coordinator.call(tool, arguments, &caller).await })
            };
            let task = |agent: &str| json!({"task_id": format!("tsk_0_{agent}")});
            gate.set_open(false);
            let note = json!({"task_id": "tsk_0_0", "progress": "p"});
            let begun = [call("get_task", &flooding, task("0")), call("save_context", &flooding, note)];
            let all_begin = async |number: usize| {
                let waiting = Instant::now();
                while gate.begun() < number && waiting.elapsed() < Duration::from_secs(5) {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                assert_eq!(gate.begun(), number);
            };
            all_begin(2).await;
            begun.iter().for_each(tokio::task::JoinHandle::abort);
            tokio::time::sleep(Duration::from_millis(50)).await;
            let third = call("get_task", &flooding, task("0"));
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert_eq!(gate.begun(), 2, "a third call runs alongside two that go on without their clients");
            let others = call("get_task", &other, task("1"));
            if kind == Kind::Postgres || std::thread::available_parallelism().is_ok_and(|number| number.get() > 1) {
                all_begin(3).await;
            }
            gate.set_open(true);
            for call in [third, others] {
                assert_eq!(call.await.unwrap().unwrap()["success"], true);
            }
        });
    });
}

/// What takes longer, and runs in CI.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: up to 30 s"]
    fn wrong_passkeys_of_one_agent_do_not_delay_another() {
        on_each_database(|kind| {
            let database = Database::new(kind);
            import(&database, 1, 2);
            let server = serve(&database, &[]);
            let (server, [flooding, other]) = (&server, &bearers(&database));
            let begun = Instant::now();
            let (answers, waited) = std::thread::scope(|scope| {
                let flood: Vec<_> =
                    (0..WRONG).map(|_| scope.spawn(move || authenticate(server, flooding, "agt_0", "wrong"))).collect();
                std::thread::sleep(Duration::from_millis(200));
                let sent = Instant::now();
                let right = authenticate(server, other, "agt_1", "key_1");
                let waited = sent.elapsed();
                assert_eq!(right["success"], true, "{right}");
                (flood.into_iter().map(|call| call.join().unwrap()).collect::<Vec<_>>(), waited)
            });
            let flood = begun.elapsed();
            assert!(waited < Duration::from_secs(2), "a right passkey took {waited:?}");
            assert!(flood < Duration::from_secs(10), "the flood took {flood:?}");
            let refused = answers.iter().filter(|answer| answer["error"] == "Invalid agent_id or passkey").count();
            let turned_away = answers.iter().filter(|answer| answer["retry_after"] == 1).count();
            assert_eq!(refused + turned_away, WRONG, "{answers:?}");
            assert!((4..30).contains(&refused), "{refused} attempts were verified");

            // The agent's own correct passkey is accepted soon afterwards.
            let begun = Instant::now();
            while authenticate(server, flooding, "agt_0", "key_0")["success"] == false {
                assert!(begun.elapsed() < Duration::from_secs(10), "the agent stays locked out");
                std::thread::sleep(Duration::from_millis(50));
            }
        });
    }

    /// An administrator's token may authenticate any agent: one attempt of each is within the limits.
    #[test]
    #[ignore = "slow: up to 30 s"]
    fn attempts_for_many_agents_do_not_delay_an_agent_with_a_token() {
        on_each_database(|kind| {
            let database = Database::new(kind);
            import(&database, 1, 2);
            let issued = administer(&database, &["token", "issue", "--scope", "admin"]);
            let admin = format!("Bearer {}", issued["token"].as_str().unwrap());
            let server = serve(&database, &[]);
            let [_, other] = bearers(&database);
            let headers = [json_headers(), vec![("authorization", admin.as_str())]].concat();
            let attempt = |number: usize| {
                let arguments =
                    json!({"agent_id": format!("agt_x{number}"), "passkey": "wrong", "project_id": "prj_0"});
                let params = json!({"name": "authenticate", "arguments": arguments});
                let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
                server.open("POST", "/mcp", &headers, &call.to_string())
            };
            let flood: Vec<_> = (0..WRONG).map(attempt).collect();
            std::thread::sleep(Duration::from_millis(300));
            let begun = Instant::now();
            let right = authenticate(&server, &other, "agt_1", "key_1");
            let waited = begun.elapsed();
            assert_eq!(right["success"], true, "{right}");
            assert!(waited < Duration::from_secs(2), "a right passkey took {waited:?}");
            drop(flood);
        });
    }

    #[test]
    #[ignore = "slow: up to 30 s"]
    fn large_lists_of_one_agent_do_not_delay_another() {
        on_each_database(|kind| {
            let database = Database::new(kind);
            let mut data = people(1, 2);
            let task = |number| {
                json!({
                    "id": format!("tsk_{number}"), "project_id": "prj_0", "title": "Large", "status": "todo",
                    "description": "word ".repeat(1600),
                })
            };
            data["tasks"].as_array_mut().unwrap().extend((0..1000).map(task));
            administer_with(&database, &["import", "-"], &data.to_string());
            let server = serve(&database, &[]);
            let [flooding, other] = bearers(&database);
            let list = json!({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_tasks", "arguments": {"project_id": "prj_0"}},
            });
            let headers = [json_headers(), vec![("authorization", flooding.as_str())]].concat();
            let flood: Vec<_> = (0..400).map(|_| server.open("POST", "/mcp", &headers, &list.to_string())).collect();
            let begun = Instant::now();
            let found = called(&server, &other, "get_task", json!({"task_id": "tsk_0_0"}));
            let waited = begun.elapsed();
            assert_eq!(found["success"], true, "{found}");
            assert!(waited < Duration::from_secs(2), "another agent waited {waited:?}");
            assert_eq!(server.send("GET", "/health", &[], "").status, 200);
            drop(flood);
        });
    }
}
