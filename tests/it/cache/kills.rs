//! Processes that are killed.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{Cached, large};
use crate::random::Random;

/// Kills n8n-lens at any moment of a download.
fn kill(times: usize) {
    let cached = Cached::with(large(300_000));
    let whole = cached.summary();
    assert!(cached.run(&["cache", "clear"]).status.success());
    cached.change(|behaviour| behaviour.shape = |reply| reply.pace(16 * 1024, Duration::from_millis(4)));
    let begun = Instant::now();
    cached.summary();
    let longest = 1 + begun.elapsed().as_millis() as u64 * 6 / 5;
    assert!(cached.run(&["cache", "clear"]).status.success());
    let mut random = Random(19);
    let (mut half, mut kept) = (0, 0);
    for _ in 0..times {
        let mut child = cached.command(&["summary", "42"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.below(longest)));
        child.kill().unwrap();
        child.wait().unwrap();
        half += usize::from(!cached.files("part").is_empty());
        // The next start finds nothing, or all of it.
        let output = cached.run(&["summary", "42", "--offline"]);
        match output.status.success() {
            true => {
                kept += 1;
                let said = String::from_utf8(output.stdout).unwrap();
                assert!(said.starts_with(whole.trim_end().trim_end_matches('}')), "{said}");
                assert!(cached.run(&["cache", "clear"]).status.success());
            }
            false => assert!(cached.files("zst").is_empty()),
        }
        assert!(cached.files("part").is_empty(), "what was half is removed at the next start");
    }
    println!("{times} kills: {half} left a part behind, {kept} an entry");
    assert!(half > 0, "no kill was in the middle");
    cached.change(|behaviour| behaviour.shape = |reply| reply);
    assert_eq!(cached.summary(), whole);
    assert_eq!(cached.summary(), whole);
}

#[test]
fn kill_9_at_any_moment_leaves_nothing_half() {
    kill(20);
}

#[test]
#[ignore = "long: a thousand kills"]
fn kill_9_a_thousand_times_leaves_nothing_half() {
    kill(1000);
}
