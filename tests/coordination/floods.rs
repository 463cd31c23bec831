//! Floods of one client do not keep the others waiting.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::database::{Database, Kind};
use crate::harness::people;
use crate::http_client::{HttpServer, json_headers};
use crate::instance::{administer, administer_with};
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

pub fn wrong_passkeys_of_one_agent_do_not_delay_another(kind: Kind) {
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

    // The right passkey of the agent itself is accepted soon afterwards.
    let begun = Instant::now();
    while authenticate(server, flooding, "agt_0", "key_0")["success"] == false {
        assert!(begun.elapsed() < Duration::from_secs(10), "the agent stays locked out");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub fn large_lists_of_one_agent_do_not_delay_another(kind: Kind) {
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
}
