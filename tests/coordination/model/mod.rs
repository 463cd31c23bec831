//! Every tool against a model of the contract: random histories from a seed, with a clock that the test sets.
//! `COORDINATION_SEED=7` replays one.

mod administration;
mod history;
mod rules;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use self::history::History;
use crate::database::{Database, Kind};
use crate::harness::{BEGIN, Harness, run};
use crate::on_each_database;

const STEPS: u64 = 40;

/// How many histories share a database; lists contain the rows of all of them.
const SHARING: u64 = 10;

const WORKERS: usize = 4;

#[test]
fn histories_agree_with_the_model() {
    on_each_database(|kind| _ = check(kind, if kind == Kind::Sqlite { 30 } else { 5 }, STEPS, 0));
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 15 s"]
    fn more_histories_agree_with_the_model() {
        on_each_database(|kind| _ = check(kind, if kind == Kind::Sqlite { 100 } else { 15 }, STEPS, 1000));
    }
}

#[test]
#[ignore = "long: minutes"]
fn ten_thousand_histories() {
    on_each_database(|kind| {
        let histories = if kind == Kind::Sqlite { 10_000 } else { 500 };
        let calls = check(kind, histories, STEPS, 1_000_000);
        println!("{histories} histories on {kind:?} agree with the model in {calls} calls");
    });
}

/// Runs histories; returns the number of compared calls.
fn check(kind: Kind, histories: u64, steps: u64, first_seed: u64) -> u64 {
    let seeds = match std::env::var("COORDINATION_SEED") {
        Ok(seed) => seed.parse().map(|seed: u64| seed..seed + 1).expect("COORDINATION_SEED is a number"),
        Err(_) => first_seed..first_seed + histories,
    };
    let (next, calls) = (AtomicU64::new(seeds.start), AtomicU64::new(0));
    let work = || {
        loop {
            let first = next.fetch_add(SHARING, Ordering::Relaxed);
            if first >= seeds.end {
                return;
            }
            calls.fetch_add(share(kind, first..seeds.end.min(first + SHARING), steps), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    calls.into_inner()
}

/// Runs some histories, one after the other, in one database.
fn share(kind: Kind, seeds: Range<u64>, steps: u64) -> u64 {
    let database = Database::new(kind);
    let histories = run(async {
        let harness = Harness::open(&database).await;
        let (mut now, mut done) = (BEGIN, Vec::new());
        for seed in seeds {
            let history = History::play(&harness, seed, now, steps).await;
            now = history.model.now;
            done.push((history.model, history.calls));
        }
        done
    });
    for (model, _) in &histories {
        model.check_rows(&database);
    }
    histories.iter().map(|(_, calls)| calls).sum()
}
