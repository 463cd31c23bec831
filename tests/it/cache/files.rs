//! The folder, its files, and their failures.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{Cached, large, stderr};

/// The line of the log about a cache that cannot be used.
const WARNING: &str = "the cache has a problem, and n8n is asked again instead";

#[cfg(unix)]
#[test]
fn only_the_owner_may_enter_the_folder_and_read_its_files() {
    use std::os::unix::fs::PermissionsExt;
    let cached = Cached::new();
    cached.summary();
    let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(cached.folder()), 0o700);
    let files: Vec<_> = std::fs::read_dir(cached.folder()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "an entry, a lock and the key: {files:?}");
    for file in files {
        assert_eq!(mode(file.clone()), 0o600, "{}", file.display());
    }
    // A folder that others may enter is not used.
    std::fs::set_permissions(cached.folder(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = cached.run(&["summary", "42"]);
    assert!(output.status.success() && stderr(&output).contains("chmod 700"), "{}", stderr(&output));
    assert_eq!((cached.bodies(), cached.looks()), (2, 0));
}

#[cfg(unix)]
#[test]
fn root_does_not_use_the_folder_of_another_user() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let cached = Cached::new();
    if cached.root.path().metadata().unwrap().uid() != 0 {
        println!("skipped: not root");
        return;
    }
    std::fs::create_dir(cached.folder()).unwrap();
    std::fs::set_permissions(cached.folder(), std::fs::Permissions::from_mode(0o700)).unwrap();
    chown(cached.folder(), Some(1234), Some(1234)).unwrap();
    let output = cached.run(&["summary", "42"]);
    assert!(output.status.success() && stderr(&output).contains("belongs to another user"), "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(cached.folder()).unwrap().count(), 0, "nothing was written");
}

#[test]
fn the_names_of_files_and_the_files_tell_nothing() {
    let (one, other) = (Cached::new(), Cached::new());
    one.summary();
    let names: Vec<_> =
        std::fs::read_dir(one.folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    for name in &names {
        assert!(!name.contains("42") || name.len() == 68, "{name}");
        assert!(
            name == "key" || name.split('.').next().unwrap().bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{name}"
        );
    }
    // Another folder has another key, so names cannot be guessed either.
    other.summary();
    let key = |cached: &Cached| std::fs::read(cached.folder().join("key")).unwrap();
    assert_eq!(key(&one).len(), 32);
    assert_ne!(key(&one), key(&other));
    for file in ["zst", "lock"].iter().flat_map(|ending| one.files(ending)) {
        let bytes = std::fs::read(&file).unwrap();
        for secret in ["test-key", "127.0.0.1"] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{}", file.display());
        }
    }
}

#[test]
fn a_damaged_file_means_asking_n8n_again() {
    let cached = Cached::with(large(300_000));
    let whole = cached.summary();
    let sound = std::fs::read(&cached.files("zst")[0]).unwrap();
    let ends = sound.len();
    // At both ends, in the middle, in the note and in its length.
    let places = [0, 3, 10, ends / 3, ends / 2, ends - 200, ends - 90, ends - 30, ends - 4, ends - 1];
    for (at, place) in places.into_iter().enumerate() {
        let mut damaged = sound.clone();
        // In repetitive text, one wrong byte can decode to the same text.
        damaged[place..].iter_mut().take(8).for_each(|byte| *byte = !*byte);
        std::fs::write(&cached.files("zst")[0], damaged).unwrap();
        assert_eq!(cached.summary(), whole, "at byte {place} of {ends}");
        assert_eq!(cached.bodies(), 2 + at, "at byte {place} of {ends}");
        assert_eq!(cached.files("zst").len(), 1, "it was cached again");
    }
    let bodies = cached.bodies();
    for (at, length) in [0, 1, 4, 100, ends / 2, ends - 1].into_iter().enumerate() {
        std::fs::write(&cached.files("zst")[0], &sound[..length]).unwrap();
        assert_eq!(cached.summary(), whole, "cut at byte {length} of {ends}");
        assert_eq!(cached.bodies(), bodies + at + 1, "cut at byte {length} of {ends}");
    }
}

#[test]
fn a_damaged_file_is_never_answered_from() {
    // The frame is valid except for its checksum: everything is read before the damage becomes visible.
    let cached = Cached::with(large(300_000));
    let whole = cached.summary();
    let path = &cached.files("zst")[0];
    let sound = std::fs::read(path).unwrap();
    let note = u32::from_le_bytes(sound[sound.len() - 4..].try_into().unwrap()) as usize;
    let mut damaged = sound.clone();
    let checksum = sound.len() - 4 - note - 1;
    damaged[checksum] ^= 1;
    std::fs::write(path, &damaged).unwrap();
    let output = cached.run(&["summary", "42", "--offline"]);
    assert!(!output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    assert!(cached.files("zst").is_empty());
    assert_eq!(cached.summary(), whole);
}

#[test]
fn a_folder_that_cannot_be_used_means_asking_n8n_again() {
    let cached = Cached::new();
    let plain = cached.run(&["summary", "42", "--cache", ""]).stdout;
    let file = cached.root.path().join("file");
    std::fs::write(&file, "").unwrap();
    for folder in [file.clone(), file.join("below")] {
        let output = cached.run(&["summary", "42", "--cache", folder.to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(output.stdout, plain);
        assert_eq!(stderr(&output).matches(WARNING).count(), 1, "one warning: {}", stderr(&output));
    }
    assert_eq!(cached.bodies(), 3);
}

#[cfg(unix)]
#[test]
fn a_full_disk_means_asking_n8n_again() {
    let cached = Cached::with(large(3_000_000));
    let plain = cached.run(&["summary", "42", "--cache", ""]).stdout;
    // No file may be larger than 8 KB: enough for the key and the locks.
    let script = r#"trap '' XFSZ; ulimit -f 16; exec "$0" "$@""#;
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, crate::support::binary(), "summary", "42"]).env_clear();
    command.env("N8N_URL", cached.n8n.url()).env("N8N_API_KEY", "test-key").env("N8N_LENS_CACHE", cached.folder());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(output.stdout, plain);
    assert_eq!(stderr(&output).matches(WARNING).count(), 1, "{}", stderr(&output));
    assert_eq!((cached.files("zst").len(), cached.files("part").len()), (0, 0), "nothing is left behind");
    cached.summary();
    assert_eq!(cached.files("zst").len(), 1);
}

#[test]
fn what_was_used_least_recently_goes_first() {
    let cached = Cached::new();
    cached.change(|behaviour| {
        let body = behaviour.executions["42"].clone();
        behaviour.executions.extend(["43", "44"].map(|id| {
            let text = String::from_utf8(body.clone()).unwrap();
            (id.to_owned(), text.replacen(r#""id":"42""#, &format!(r#""id":"{id}""#), 1).into_bytes())
        }));
    });
    let summary = |id: &str, most: &str| {
        let output = cached.run(&["summary", id, "--cache-max", most]);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let is_cached = |id: &str| cached.run(&["summary", id, "--offline"]).status.success();
    for id in ["42", "43"] {
        summary(id, "1GB");
    }
    let bytes: u64 = cached.files("zst").iter().map(|file| file.metadata().unwrap().len()).sum();
    for file in cached.files("zst") {
        let file = std::fs::File::options().write(true).open(file).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(600)).unwrap();
    }
    // 42 is used, so 43 is removed when there is room for two.
    summary("42", "1GB");
    let most = format!("{}kb", bytes.div_ceil(1000));
    summary("44", &most);
    assert!(is_cached("42") && is_cached("44") && !is_cached("43"));
    let held: u64 = cached.files("zst").iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(held <= bytes.div_ceil(1000) * 1000, "{held} of {bytes}");
    // An execution that is too large for the cache does not empty it.
    summary("43", "1kb");
    assert!(is_cached("42") && is_cached("44") && !is_cached("43"));
    assert!(cached.files("part").is_empty());
}

#[test]
fn what_was_not_used_for_long_is_removed_at_the_next_start() {
    let cached = Cached::new();
    cached.summary();
    let file = std::fs::File::options().write(true).open(&cached.files("zst")[0]).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(25 * 3600)).unwrap();
    assert!(cached.run(&["cache"]).status.success());
    assert_eq!(cached.files("zst").len(), 1, "a process with another --cache-ttl may still use it");
    assert!(!cached.run(&["summary", "43"]).status.success());
    assert!(cached.files("zst").is_empty());
}
