//! Journal modes, and the files next to the database: whatever state n8n left them in, nothing is created or changed.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{answer, binary, complaint, execution, lens};
use crate::support::n8n_store::N8nFolder;

/// A user without any rights in the folders of the tests.
const OTHER_USER: u32 = 65_534;

fn store(store: N8nFolder) -> N8nFolder {
    store.save(&execution("b_http_500", 7));
    store
}

/// A copy of the database as a killed process leaves it: with the files next to it.
fn killed(store: &N8nFolder) -> tempfile::TempDir {
    let n8n = store.open();
    store.save_with(&n8n, &execution("a_small_success", 8));
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(store.path()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    assert!(copy.path().join("database.sqlite-wal").exists(), "the change is in the log");
    copy
}

fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.map(|file| (file.clone(), std::fs::read(file).unwrap())).collect();
    files.sort();
    files
}

/// Runs the summary of an execution; the folder is as before.
fn summary(folder: &Path, id: &str) -> Value {
    let before = snapshot(folder);
    let read = answer(&mut lens(folder, &["summary", id]));
    assert!(snapshot(folder) == before, "a file was created, changed or removed");
    read
}

/// A command that sees `folder` mounted read-only; `None` where mounting is not allowed.
fn read_only(folder: &Path, arguments: &[&str]) -> Option<Command> {
    const MOUNT: &str = r#"mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@""#;
    let mounts = |command: &mut Command| {
        command.args(["-m", "sh", "-c", MOUNT, "sh"]).arg(folder);
    };
    let mut trial = Command::new("unshare");
    mounts(&mut trial);
    let can_mount = trial.arg("true").output().is_ok_and(|output| output.status.success());
    if !can_mount {
        println!("skipped: this machine does not allow read-only mounts");
        return None;
    }
    let mut command = Command::new("unshare");
    mounts(&mut command);
    command.arg(binary()).args(arguments).arg("--store").arg(folder).env("N8N_LENS_LOCALE", "en");
    Some(command)
}

/// A command run by another user, who may read everything in `folder`; `None` without permission to do so.
fn other_user(folder: &Path, arguments: &[&str]) -> Option<(Command, tempfile::TempDir)> {
    use std::os::unix::fs::PermissionsExt;

    if !rustix_is_root() {
        println!("skipped: only root can run a process as another user");
        return None;
    }
    // The other user may not be able to reach the folder of the build.
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("n8n-lens");
    // Another test may start a process at this moment, which would inherit a copy that is still open for writing.
    assert!(Command::new("cp").args([binary().as_ref(), copy.as_os_str()]).status().unwrap().success());
    let mode = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    mode(place.path(), 0o755);
    mode(&copy, 0o755);
    mode(folder, 0o755);
    for file in std::fs::read_dir(folder).unwrap() {
        mode(&file.unwrap().path(), 0o644);
    }
    let mut command = Command::new(&copy);
    command.args(arguments).arg("--store").arg(folder).env_clear().env("N8N_LENS_LOCALE", "en");
    command.uid(OTHER_USER).gid(OTHER_USER);
    Some((command, place))
}

fn rustix_is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

#[test]
fn an_n8n_that_runs_is_read_with_its_newest_commits() {
    for journal in [N8nFolder::wal(), N8nFolder::rollback()] {
        let store = store(journal);
        let n8n = store.open();
        store.save_with(&n8n, &execution("a_small_success", 8));
        let before = snapshot(store.path());
        assert_eq!(answer(&mut lens(store.path(), &["summary", "8"]))["data"]["status"], "success");
        assert_eq!(answer(&mut lens(store.path(), &["list"]))["data"]["count"], 2);
        assert!(snapshot(store.path()) == before, "a file was created, changed or removed");
        store.save_with(&n8n, &execution("a_small_success", 9));
        assert_eq!(answer(&mut lens(store.path(), &["list"]))["data"]["count"], 3);
    }
}

#[test]
fn an_n8n_that_has_stopped_leaves_a_folder_that_stays_as_it_is() {
    for journal in [N8nFolder::wal(), N8nFolder::rollback()] {
        let store = store(journal);
        assert_eq!(snapshot(store.path()).len(), 1, "only the database");
        assert_eq!(summary(store.path(), "7")["data"]["status"], "error");
    }
}

#[test]
fn an_n8n_that_was_killed_is_read_with_its_log() {
    let killed = killed(&store(N8nFolder::wal()));
    assert_eq!(summary(killed.path(), "8")["data"]["status"], "success");
    assert_eq!(summary(killed.path(), "7")["data"]["status"], "error");
}

#[test]
fn a_log_without_its_index_is_not_opened() {
    let killed = killed(&store(N8nFolder::wal()));
    std::fs::remove_file(killed.path().join("database.sqlite-shm")).unwrap();
    let before = snapshot(killed.path());
    let said = complaint(&mut lens(killed.path(), &["summary", "7"]));
    assert!(
        said.contains("-wal file but no -shm file") && said.contains("copy the database and its -wal file"),
        "{said}"
    );
    assert!(snapshot(killed.path()) == before);
    if let Some(mut command) = read_only(killed.path(), &["summary", "7"]) {
        let said = complaint(&mut command);
        assert!(said.contains("-wal file but no -shm file"), "{said}");
    }
}

#[test]
fn a_log_whose_index_comes_a_moment_later_is_read() {
    let killed = killed(&store(N8nFolder::wal()));
    let (index, aside) = (killed.path().join("database.sqlite-shm"), killed.path().join("aside"));
    std::fs::rename(&index, &aside).unwrap();
    std::thread::scope(|scope| {
        // Like a starting n8n.
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            std::fs::rename(&aside, &index).unwrap();
        });
        assert_eq!(answer(&mut lens(killed.path(), &["summary", "8"]))["data"]["status"], "success");
    });
}

#[test]
fn a_hot_journal_is_not_rolled_back() {
    let store = store(N8nFolder::rollback());
    let n8n = store.open();
    n8n.execute_batch("PRAGMA cache_size = 2; BEGIN IMMEDIATE").unwrap();
    // More than the cache holds is written to the file before the commit.
    for id in 100..200 {
        store.save_with(&n8n, &execution("a_small_success", id));
    }
    let copy = tempfile::tempdir().unwrap();
    for ending in ["", "-journal"] {
        let name = format!("database.sqlite{ending}");
        std::fs::copy(store.path().join(&name), copy.path().join(&name)).unwrap();
    }
    n8n.execute_batch("ROLLBACK").unwrap();
    let before = snapshot(copy.path());
    let said = complaint(&mut lens(copy.path(), &["summary", "7"]));
    assert!(said.contains("has a hot journal") && said.contains("Start n8n once"), "{said}");
    assert!(snapshot(copy.path()) == before);
}

#[test]
fn read_only_mounts_are_enough() {
    let stopped = store(N8nFolder::wal());
    let Some(mut command) = read_only(stopped.path(), &["summary", "7"]) else { return };
    assert_eq!(answer(&mut command)["data"]["status"], "error");
    let rollback = store(N8nFolder::rollback());
    assert_eq!(answer(&mut read_only(rollback.path(), &["summary", "7"]).unwrap())["data"]["status"], "error");
    let killed = killed(&store(N8nFolder::wal()));
    assert_eq!(answer(&mut read_only(killed.path(), &["summary", "8"]).unwrap())["data"]["status"], "success");
    let running = store(N8nFolder::wal());
    let n8n = running.open();
    running.save_with(&n8n, &execution("a_small_success", 8));
    assert_eq!(answer(&mut read_only(running.path(), &["summary", "8"]).unwrap())["data"]["status"], "success");
}

#[test]
fn another_user_leaves_nothing_behind_and_n8n_writes_on() {
    for journal in [N8nFolder::wal(), N8nFolder::rollback()] {
        let store = store(journal);
        let Some((mut command, _place)) = other_user(store.path(), &["summary", "7"]) else { return };
        let before = snapshot(store.path());
        assert_eq!(answer(&mut command)["data"]["status"], "error");
        assert!(snapshot(store.path()) == before, "a file was created, changed or removed");
        // n8n's next start.
        store.save(&execution("a_small_success", 8));
        let n8n = store.open();
        store.save_with(&n8n, &execution("a_small_success", 9));
        let (mut command, _place) = other_user(store.path(), &["summary", "9"]).unwrap();
        assert_eq!(answer(&mut command)["data"]["status"], "success");
        store.save_with(&n8n, &execution("a_small_success", 10));
    }
}

#[test]
fn what_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let store = store(N8nFolder::wal());
    let Some((mut command, _place)) = other_user(store.path(), &["summary", "7"]) else { return };
    std::fs::set_permissions(store.file(), PermissionsExt::from_mode(0o600)).unwrap();
    let said = complaint(&mut command);
    assert!(said.contains("This user may not read n8n's database"), "{said}");
}

#[test]
fn n8n_may_start_and_stop_while_a_server_runs() {
    let store = store(N8nFolder::wal());
    let mut command = Command::new(binary());
    command.arg("--store").arg(store.path()).env_clear().stderr(std::process::Stdio::piped());
    let mut client = crate::mcp_client::McpClient::try_spawn(&mut command).unwrap();
    let mut count = || {
        let listed = client.call("list_executions", json!({})).unwrap();
        serde_json::from_str::<Value>(&listed).unwrap()["data"]["count"].as_u64().unwrap()
    };
    assert_eq!(count(), 1);
    for id in 8..12 {
        let n8n: Connection = store.open();
        store.save_with(&n8n, &execution("a_small_success", id));
        assert_eq!(count(), id - 6, "running");
        drop(n8n);
        assert!(!store.path().join("database.sqlite-wal").exists(), "n8n was the last one to close it");
        assert_eq!(count(), id - 6, "stopped");
    }
    let files = std::fs::read_dir(store.path()).unwrap().count();
    assert_eq!(files, 1, "nothing was left behind");
}

/// A running execution whose progress n8n has saved, and one without saved progress.
fn running() -> [Value; 2] {
    let running = |name: &str, id: u64| {
        let mut body = execution(name, id);
        (body["status"], body["stoppedAt"]) = (json!("running"), Value::Null);
        if let Some(result) = body["data"]["resultData"].as_object_mut() {
            result.shift_remove("error");
        }
        body
    };
    [running("m_canceled_progress", 11), running("l_running", 12)]
}

#[test]
fn an_execution_that_ran_when_n8n_was_killed_does_not_run() {
    let store = store(N8nFolder::wal());
    let n8n = store.open();
    running().iter().for_each(|body| store.save_with(&n8n, body));
    let notes = |read: &Value| read["data"]["notes"].to_string();

    // While n8n has the database open, it runs.
    let alive = answer(&mut lens(store.path(), &["summary", "11"]));
    assert!(alive["data"].get("notes").is_none(), "{alive}");
    let message = alive["data"]["_guidance"]["message"].as_str().unwrap();
    assert!(message.starts_with("This execution is running at node 'Wait': "), "{message}");

    let copy = killed(&store);
    let dead = summary(copy.path(), "11");
    assert_eq!(dead["data"]["status"], "running", "as n8n wrote it");
    assert!(notes(&dead).contains("n8n is not running; it was at node 'Wait'."), "{dead}");
    let message = dead["data"]["_guidance"]["message"].as_str().unwrap();
    assert!(message.starts_with("This execution was stopped with n8n at node 'Wait': "), "{message}");
    let nothing_saved = summary(copy.path(), "12");
    assert!(notes(&nothing_saved).contains("n8n is not running. This execution does not go on"), "{nothing_saved}");
    assert!(notes(&nothing_saved).contains("n8n had saved no run data"), "{nothing_saved}");
    // n8n ignores one that has ended.
    assert!(summary(copy.path(), "7")["data"].get("notes").is_none());
}

#[test]
fn running_executions_are_counted_alongside_a_list() {
    let store = store(N8nFolder::wal());
    running().iter().for_each(|body| store.save(body));
    let left_out = |arguments: &[&str]| answer(&mut lens(store.path(), arguments))["data"]["leftOut"].clone();
    assert_eq!(left_out(&["list"]), json!({"running": 2, "see": "list_executions(status: 'running')"}));
    let workflow = running()[0]["workflowId"].as_str().unwrap().to_owned();
    assert_eq!(left_out(&["list", "--workflow-id", &workflow])["running"], 1);
    for arguments in
        [&["list", "--status", "running"][..], &["list", "--status", "error"], &["list", "--failing-node", "X"]]
    {
        assert_eq!(left_out(arguments), Value::Null, "{arguments:?}");
    }
}
