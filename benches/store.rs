//! Executions as n8n stores them, beside reading the stored text once: `cargo bench --bench store`.
//!
//! The texts are files that this bench writes, read with a warm page cache.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a script that prints"
)]

use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::execution::{StoredExecution, StoredProjection};
use n8n_lens::json::ReadAt;
use peak_alloc::PeakAlloc;

#[path = "../tests/support/mod.rs"]
mod support;
use support::large_store::LargeStore;

#[global_allocator]
static ALLOCATIONS: PeakAlloc = PeakAlloc;

/// Runs of each question; the median counts.
const RUNS: usize = 9;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    for (name, large) in [("105 MB", LargeStore::LARGE), ("507 MB", LargeStore::HUGE)] {
        let file = folder.path().join("data.flatted");
        large.write_to(&file);
        measure(name, large, &file);
        std::fs::remove_file(&file).unwrap();
    }
}

fn measure(name: &str, large: LargeStore, file: &Path) {
    println!("\n{name}: {} bytes", std::fs::metadata(file).unwrap().len());
    println!("{:<36} {:>9} {:>9} {:>9} {:>8}", "", "median ms", "best ms", "of limit", "peak MB");
    let limit = report("limit: read the file once", Duration::ZERO, || read_once(file));
    let last = LargeStore::node_name(large.nodes - 1);
    let items = large.items as u64;
    let node = |window| NodeProjection { node: last.clone(), window, ..NodeProjection::default() };
    report("summary", limit, || drop(black_box(read(&SummaryProjection, file).unwrap())));
    report("50 items of the last node", limit, || drop(black_box(read(&node(0..50), file).unwrap())));
    report("its last 50 items", limit, || drop(black_box(read(&node(items - 50..items), file).unwrap())));
}

fn read_once(file: &Path) {
    let mut file = File::open(file).unwrap();
    let (len, mut buffer) = (ReadAt::len(&file), vec![0; 65_536]);
    for position in (0..len).step_by(buffer.len()) {
        let piece = (len - position).min(buffer.len() as u64) as usize;
        file.read_at(position, &mut buffer[..piece]).unwrap();
    }
}

fn read<P: StoredProjection>(projection: &P, file: &Path) -> P::View {
    let stored = LargeStore::stored();
    let mut data = File::open(file).unwrap();
    projection.read_stored(StoredExecution {
        header: stored.header.as_bytes(),
        workflow: stored.workflow.as_bytes(),
        data: &mut data,
        reveal: false,
    })
}

fn report(what: &str, limit: Duration, run: impl Fn()) -> Duration {
    ALLOCATIONS.reset_peak_usage();
    let before = ALLOCATIONS.current_usage();
    let mut times: Vec<_> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort();
    let (median, peak) = (times[RUNS / 2], ALLOCATIONS.peak_usage() - before);
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let of_limit = if limit.is_zero() { 1.0 } else { ms(median) / ms(limit) };
    println!("{what:<36} {:>9.1} {:>9.1} {of_limit:>9.2} {:>8.1}", ms(median), ms(times[0]), peak as f64 / 1e6);
    median
}
