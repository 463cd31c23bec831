//! Floods of one client do not keep the others waiting.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::database::{Database, Kind};
use crate::http_client::HttpServer;
use crate::instance::administer;
use crate::races::{called, import, serve};

/// The number of wrong passkeys sent at once.
const WRONG: usize = 200;

fn authenticate(server: &HttpServer, bearer: &str, agent: &str, passkey: &str) -> Value {
    called(server, bearer, "authenticate", json!({"agent_id": agent, "passkey": passkey, "project_id": "prj_0"}))
}

pub fn wrong_passkeys_of_one_agent_do_not_delay_another(kind: Kind) {
    let database = Database::new(kind);
    import(&database, 1, 2);
    let server = serve(&database, &[]);
    let bearers = ["agt_0", "agt_1"].map(|agent| {
        let issued = administer(&database, &["token", "issue", "--scope", "agent", "--agent", agent]);
        format!("Bearer {}", issued["token"].as_str().unwrap())
    });
    let (server, [flooding, other]) = (&server, &bearers);
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
