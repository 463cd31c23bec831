//! Passkeys and tokens are not stored or logged, and an unknown agent takes as long as a wrong passkey.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use n8n_lens::coordination::store::Clock;
use n8n_lens::coordination::tools::TOOLS;
use n8n_lens::coordination::{Caller, Coordinator, Cost, SessionPolicy, Settings};
use serde_json::{Value, json};

use crate::database::{Database, Kind, server_folder};
use crate::harness::{people, run};
use crate::instance::{Instance, administer, administer_with, binary};
use crate::on_each_database;

/// Collects the files below a folder that contain one of the secrets.
fn find_secrets(folder: &Path, secrets: &[String], found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            find_secrets(&path, secrets, found);
            continue;
        }
        // A database server can delete files at any time.
        let Ok(bytes) = std::fs::read(&path) else { continue };
        for secret in secrets {
            if memchr::memmem::find(&bytes, secret.as_bytes()).is_some() {
                found.push(format!("{} holds {secret}", path.display()));
            }
        }
    }
}

#[test]
fn secrets_are_not_stored_or_logged() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        administer_with(&database, &["import", "-"], &people(1, 2).to_string());
        let planted = "planted-passkey-0123456789";
        administer_with(&database, &["passkey", "rotate", "--agent", "agt_0", "--stdin"], planted);
        let made = administer(&database, &["passkey", "rotate", "--agent", "agt_1"]);
        let bearer = administer(&database, &["token", "issue", "--scope", "admin"]);
        let mut secrets = vec![planted.to_owned(), made["passkey"].as_str().unwrap().to_owned()];
        secrets.push(bearer["token"].as_str().unwrap().to_owned());

        let log = database.folder.path().join("log.txt");
        let mut command = binary();
        command.args(["coordinate", "--db", &database.argument]).env("LOG_LEVEL", "trace");
        command.stderr(Stdio::from(std::fs::File::create(&log).unwrap()));
        let mut instance = Instance::try_spawn(&mut command).unwrap();
        let who = json!({"agent_id": "agt_0", "passkey": planted, "project_id": "prj_0"});
        let token = instance.call("authenticate", who)["session_token"].clone();
        secrets.push(token.as_str().unwrap().to_owned());
        instance
            .call("authenticate", json!({"agent_id": "agt_0", "passkey": "wrong-passkey-42", "project_id": "prj_0"}));
        secrets.push("wrong-passkey-42".to_owned());
        instance.call("get_my_task", json!({ "session_token": token }));
        let answers = ["list_agents", "list_projects", "list_tasks", "list_execution_logs"];
        let shown = answers.map(|tool| instance.call(tool, json!({})).to_string()).concat();
        instance.call("report_completed", json!({"session_token": token, "result": "success", "summary": "done"}));
        assert!(secrets.iter().all(|secret| !shown.contains(secret)));

        // The search finds a text that is not a secret, so it would find secrets.
        let visible = ["You are 0.".to_owned()];
        let folder = if kind == Kind::Sqlite { database.folder.path() } else { server_folder() };
        let mut found = Vec::new();
        if kind == Kind::Postgres {
            database.run("CHECKPOINT");
        }
        find_secrets(folder, &visible, &mut found);
        assert!(!found.is_empty(), "the search finds nothing");

        let mut found = Vec::new();
        if kind == Kind::Sqlite {
            let backup = database.folder.path().join("backup.db");
            administer(&database, &["backup", backup.to_str().unwrap()]);
            find_secrets(database.folder.path(), &secrets, &mut found);
            assert!(Path::new(&format!("{}-wal", database.argument)).exists(), "it was searched, too");
        } else {
            find_secrets(server_folder(), &secrets, &mut found);
            find_secrets(database.folder.path(), &secrets, &mut found);
        }
        assert!(std::fs::metadata(&log).unwrap().len() > 0, "the log is not empty");
        assert_eq!(found, Vec::<String>::new());
        assert!(instance.mcp.close() == Some(0));
    });
}

#[test]
fn an_unknown_agent_takes_as_long_as_a_known_one() {
    on_each_database(|kind| {
        // On a busy machine calls take any amount of time, but as much work as on an idle one.
        let ratio = timing(kind, 20, processor_time);
        assert!((0.7..1.43).contains(&ratio), "{ratio}");
    });
}

#[test]
#[ignore = "long: minutes"]
fn an_unknown_agent_takes_as_long_as_a_known_one_200_times() {
    on_each_database(|kind| {
        let begun = Instant::now();
        let ratio = timing(kind, 200, || begun.elapsed().as_secs_f64());
        println!("{kind:?}: unknown agent / wrong passkey = {ratio:.3}");
        assert!((0.95..1.053).contains(&ratio), "{ratio}");
    });
}

/// The processor time that all threads of this process have used, in ticks.
fn processor_time() -> f64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap();
    // After the name in parentheses, utime and stime are the 12th and 13th fields.
    let fields: Vec<_> = status.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum()
}

/// How long an unknown agent takes, relative to a wrong passkey, with real hashes. Each agent is used once, since a
/// wrong passkey slows down the next call for its agent.
fn timing(kind: Kind, calls: usize, clock: impl Fn() -> f64) -> f64 {
    let database = Database::new(kind);
    let data = json!({"data": people(1, calls)});
    run(async {
        let settings = Settings {
            location: database.location(),
            create: true,
            connections: 2,
            policy: SessionPolicy::default(),
            cost: Cost::default(),
            clock: Clock::Database,
        };
        let coordinator = Coordinator::open(&settings).await.unwrap();
        let import = n8n_lens::coordination::admin::TOOLS.iter().find(|tool| tool.name == "admin_import").unwrap();
        let Value::Object(data) = data else { panic!() };
        coordinator.call(import, data, &Caller::Local).await.unwrap();
        let authenticate = TOOLS.iter().find(|tool| tool.name == "authenticate").unwrap();
        let mut times = [0.0, 0.0];
        for at in 0..calls {
            // Threads take turns, and memory costs one of them more than another: no kind of call may
            // use the same thread each time.
            for who in if at % 2 == 0 { [0, 1] } else { [1, 0] } {
                let agent = [format!("agt_{at}"), format!("agt_unknown_{at}")][who].clone();
                let Value::Object(given) = json!({"agent_id": agent, "passkey": "wrong", "project_id": "prj_0"}) else {
                    panic!()
                };
                let begun = clock();
                let refused = coordinator.call(authenticate, given, &Caller::Local).await.unwrap_err();
                times[who] += clock() - begun;
                assert_eq!(refused.to_string(), "Invalid agent_id or passkey");
            }
        }
        times[1] / times[0]
    })
}
