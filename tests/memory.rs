//! Peak allocations do not grow with the body, whatever it contains.
//!
//! This is a separate binary, because it replaces the allocator.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a test fails by a panic, and nothing here is reachable"
)]

use std::io::{BufReader, Read};
use std::sync::{Mutex, PoisonError};

use n8n_lens::execution::compare::{Comparison, DigestProjection};
use n8n_lens::execution::describe::DescribeProjection;
use n8n_lens::execution::fields::FieldsProjection;
use n8n_lens::execution::lookup::{LookupProjection, Of, Plan, Question, RunsProjection, Which, path_of};
use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::recording::RecordingProjection;
use n8n_lens::execution::search::{Condition, Operand, PathEnd, Scalar, SearchProjection, TextPattern, ValueQuery};
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::execution::timeline::TimelineProjection;
use n8n_lens::execution::trace::{Direction, ItemsProjection, LineageProjection, Place, Trace};
use n8n_lens::execution::{Searched, StoredProjection, StoredSearch};
use n8n_lens::json::flatted::Flatted;
use n8n_lens::json::{Projection, ReadAt};
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::get_execution_by_node::{self, NodeQuery};
use n8n_lens::tools::executions::summary_answer;
use peak_alloc::PeakAlloc;

mod support;
use support::generator::{Body, Item, Name, Shape};
use support::large_store::LargeStore;

#[global_allocator]
static ALLOCATIONS: PeakAlloc = PeakAlloc;

const MB: usize = 1_000_000;

/// The node of a realistic body that the questions are about.
const REALISTIC_NODE: usize = 17;

/// How much smaller than a gigabyte the bodies are that a contributor waits for, and those in CI.
const SHORT: usize = 100;
const MEDIUM: usize = 16;

/// The tolerance for equal peaks.
const EQUAL: usize = MB;

/// Bytes allocated at the peak of `run`, beyond what was allocated before.
fn peak(run: impl FnOnce()) -> usize {
    ALLOCATIONS.reset_peak_usage();
    let before = ALLOCATIONS.current_usage();
    run();
    ALLOCATIONS.peak_usage() - before
}

/// Reads a body as it arrives, 64 KiB at a time.
fn read<V, E: std::fmt::Debug>(projection: &impl Projection<View = Result<V, E>>, body: impl Read) -> V {
    projection.read_from(BufReader::with_capacity(65_536, body)).unwrap()
}

fn summarize(body: impl Read) {
    let summary = read(&SummaryProjection, body);
    assert!(!summary_answer::compose(&summary, None, 0, Locale::Ja, true).is_empty());
}

fn look(body: impl Read, name: String) {
    let projection = NodeProjection { node: name, window: 0..50, ..NodeProjection::default() };
    let view = read(&projection, body);
    let question = NodeQuery { locale: Locale::Ja, ..NodeQuery::new(projection, 20_000) };
    assert!(!get_execution_by_node::answer(&view, None, &question).unwrap().is_empty());
}

/// The peaks of the summary and of the node view, without the generator's memory.
fn peaks(make: impl Fn() -> Body, node: usize) -> [usize; 2] {
    let (body, other) = (make(), make());
    let name = other.node_name(node);
    [peak(|| summarize(body)), peak(|| look(other, name))]
}

/// The peaks of a search for a text in every item, of one by path and of one that compares two paths, of the fields of all
/// nodes, of one field of a node by another, and of a description.
fn asking_peaks(make: impl Fn() -> Body, node: usize) -> [usize; 6] {
    // Both paths have a different value in each item: of the orders of a realistic body, or of small items.
    let [below, by] = if node == REALISTIC_NODE { ["orderId", "customer.email"] } else { ["i", "i"] };
    let node = &make().node_name(node);
    let text = ValueQuery { text: Some(TextPattern::literal("e").unwrap()), ..ValueQuery::default() };
    let path = ValueQuery { path: Some(PathEnd::new("name")), ..ValueQuery::default() };
    let differs = Some(Condition::NotEquals(Operand::Path(PathEnd::new("email"))));
    let two_paths = ValueQuery { condition: differs, ..path.clone() };
    let search = |query: ValueQuery| {
        let search = SearchProjection { query, node: None, output: None, limit: 100, redacts: false };
        let body = make();
        peak(|| drop(read(&search, body)))
    };
    let fields = |projection: FieldsProjection| {
        let body = make();
        peak(|| drop(read(&projection, body)))
    };
    let (below, by) = (Some(below.to_owned()), Some(by.to_owned()));
    let by = FieldsProjection { node: Some(node.to_owned()), below, by, ..FieldsProjection::default() };
    let body = make();
    let describe = DescribeProjection::default();
    let description = peak(|| drop(read(&describe, body)));
    [search(text), search(path), search(two_paths), fields(FieldsProjection::default()), fields(by), description]
}

/// The peak of a timeline, as the page requests it.
fn timeline_peak(make: impl Fn() -> Body) -> usize {
    let (body, timeline) = (make(), TimelineProjection { bars: 1000, range: None });
    peak(|| drop(read(&timeline, body)))
}

/// The peaks of both passes of a trace from the first item of the last node.
fn trace_peaks(make: impl Fn() -> Body, node: usize) -> [usize; 2] {
    let (body, again) = (make(), make());
    let start = Place { node: again.node_name(node), run: 0, output: 0, item: 0 };
    let mut trace = None;
    let steps = peak(|| {
        let view = read(&LineageProjection, body);
        trace = Some(Trace::new(view, &start, Direction::Both));
    });
    let places = trace.expect("it was read").places();
    assert!(places.len() > 1);
    let items = ItemsProjection { places: places.into(), redacts: true };
    [steps, peak(|| drop(read(&items, again)))]
}

/// The peaks of both passes of a look-up of paths that items have or lack, in what each node received and output.
fn look_up_peaks(make: impl Fn() -> Body) -> [usize; 2] {
    let (body, again) = (make(), make());
    let mut runs = None;
    let first = peak(|| runs = Some(read(&RunsProjection, body)));
    let runs = runs.expect("it was read");
    let second = peak(|| {
        let ask = |node: &str, path| {
            let of =
                [Of::Input(Which::Any), Of::Output { node: node.to_owned(), outputs: Vec::new(), which: Which::Last }];
            of.map(|of| Question { node: node.to_owned(), of, path: path_of(path) })
        };
        let of_node = |node| ["orderId", "i", "list[3]", "customer.nmae", "text"].map(|path| ask(node, path));
        let questions = runs.names().take(20).flat_map(of_node).flatten().collect();
        let lookup = LookupProjection::new(Plan::new(&runs, questions));
        let found = read(&lookup, again);
        assert!(found.iter().any(|found| found.items > 0));
    });
    [first, second]
}

/// The peak of a comparison of two equal bodies.
fn comparison_peak(make: impl Fn() -> Body) -> usize {
    let digest = |body: Body| {
        let digest = DigestProjection { redacts: true };
        read(&digest, body)
    };
    let (this, other) = (make(), make());
    peak(|| {
        let comparison = Comparison::new(&digest(this), &digest(other));
        assert!(comparison.nodes.is_empty() && comparison.same > 0);
    })
}

fn shape(nodes: usize, runs: usize, items: usize, item: Item, name: Name) -> Shape {
    Shape { nodes, runs, items, item, failing: None, name }
}

fn one(item: Item) -> Shape {
    shape(2, 1, 1, item, Name::Step)
}

fn items(items: usize) -> Shape {
    shape(2, 1, items, Item::Small, Name::Step)
}

fn runs(runs: usize) -> Shape {
    shape(2, runs, 1, Item::Small, Name::Step)
}

fn named(bytes: usize) -> Shape {
    shape(2, 1, 1, Item::Small, Name::Long(bytes))
}

/// The peaks of the summary, of a window at the end of the last node, and of all items of that node, from run data as n8n
/// stores it.
fn stored_peaks(large: LargeStore) -> [usize; 3] {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.flatted");
    large.write_to(&file);
    let items = large.items as u64;
    let node = |window| {
        let node = LargeStore::node_name(large.nodes - 1);
        let projection = NodeProjection { node, window, ..NodeProjection::default() };
        peak(|| drop(stored(&projection, &file).unwrap()))
    };
    let summary = peak(|| drop(stored(&SummaryProjection, &file).unwrap()));
    [summary, node(items.saturating_sub(50)..items), node(0..items.min(5000))]
}

fn stored<P: StoredProjection>(projection: &P, file: &std::path::Path) -> P::View {
    let stored = LargeStore::stored();
    let data = Flatted::new(Box::new(std::fs::File::open(file).unwrap()));
    projection.read_stored(stored.with_data(data))
}

/// The cache of chunks is the largest cost of a text of 4 MB or more.
fn compare_stored(small: LargeStore, large: LargeStore) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let ([summary_small, node_small, _], [summary, node, many]) = (stored_peaks(small), stored_peaks(large));
    println!("{large:?}: summary {summary}, node {node}, many {many}; {small:?}: {summary_small}, {node_small}");
    assert!(summary < summary_small + 3 * MB, "summary of {large:?}: {summary}, of a small one: {summary_small}");
    assert!(node < node_small + 3 * MB, "node of {large:?}: {node}, of a small one: {node_small}");
    assert!(node.max(many) < 8 * MB, "node of {large:?}: {node}, {many}");
}

#[test]
fn peaks_do_not_grow_with_what_n8n_stores() {
    compare_stored(LargeStore { items: 1000, ..LargeStore::LARGE }, LargeStore { items: 20_000, ..LargeStore::LARGE });
}

#[test]
fn what_is_held_of_a_text_whose_items_are_out_of_order_is_bounded() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.flatted");
    // 13 and 26 MB.
    let peaks = [5_000, 10_000].map(|items| {
        LargeStore { nodes: 3, items, text: 2_300, shuffled: true }.write_to(&file);
        peak(|| drop(stored(&FieldsProjection::default(), &file).unwrap()))
    });
    println!("out of order: {peaks:?}");
    assert!(peaks[0] > 10 * MB && peaks[1] < 22 * MB, "{peaks:?}");
}

/// The peaks of the search of one of many executions for digits, and for a number at a path: both are in it.
fn searched_peaks(items: usize) -> [usize; 2] {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.flatted");
    LargeStore { items, ..LargeStore::LARGE }.write_to(&file);
    let digits = ValueQuery { text: TextPattern::literal("77").ok(), ..ValueQuery::default() };
    let equal = Condition::Equals(Operand::Scalar(Scalar::Text("77.5".to_owned())));
    let number = ValueQuery { path: Some(PathEnd::new("total")), condition: Some(equal), ..ValueQuery::default() };
    [digits, number].map(|query| {
        peak(|| {
            let search = SearchProjection { query, node: None, output: None, limit: 1, redacts: false };
            let data = Flatted::new(Box::new(std::fs::File::open(&file).unwrap()));
            let found = StoredSearch::new(search).search(LargeStore::stored().with_data(data)).unwrap();
            assert!(matches!(found, Searched::Read(found) if found.total > 0));
        })
    })
}

#[test]
fn peaks_of_searches_of_stored_executions_do_not_grow() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (small, large) = (searched_peaks(1000), searched_peaks(10_000));
    println!("digits and a number at a path: {large:?}; 1,000 items: {small:?}");
    for (small, large) in small.into_iter().zip(large) {
        assert!(large < small + 3 * MB && large < 6 * MB, "{large}, {small}");
    }
}

#[test]
#[ignore = "long: texts of up to half a gigabyte"]
fn peaks_do_not_grow_with_half_a_gigabyte_in_the_store() {
    compare_stored(LargeStore { items: 1000, ..LargeStore::LARGE }, LargeStore::LARGE);
    compare_stored(LargeStore { items: 80, ..LargeStore::HUGE }, LargeStore::HUGE);
    // One item of half a gigabyte.
    compare_stored(
        LargeStore { nodes: 3, items: 1, text: MB, shuffled: false },
        LargeStore { nodes: 3, items: 1, text: 500 * MB, shuffled: false },
    );
}

/// There is one peak for the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn peaks_do_not_grow_with_the_body() {
    compare(SHORT);
}

#[test]
fn recorded_items_do_not_stay_in_memory() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let recorded = |keeps_all: bool, number: usize, length: usize| {
        let body = shape(2, 1, number, Item::String(length), Name::Step).body();
        let projection = match keeps_all {
            true => RecordingProjection::keeping_all(),
            false => RecordingProjection::keeping(std::collections::HashSet::from([body.node_name(1)])),
        };
        let mut kept = 0;
        let peak = peak(|| {
            let recording = read(&projection, body);
            assert_eq!(recording.incomplete, None);
            kept = recording.items.map_or(0, |items| ReadAt::len(&items));
        });
        (kept as usize, peak)
    };
    for (keeps_all, number, length, least) in
        [(false, 20_000, 1000, 16 * MB), (true, 20_000, 1000, 32 * MB), (true, 1, 20 * MB, 32 * MB)]
    {
        let (few, many) = (recorded(keeps_all, 2_000, 1000), recorded(keeps_all, number, length));
        println!("recordings, all {keeps_all}, kept and peak: {few:?}, {many:?}");
        // The part kept in memory before there is a file, while its buffer grows.
        assert!(many.0 > least && many.1 < 12 * MB, "{few:?}, {many:?}");
    }
}

#[test]
#[ignore = "long: bodies of up to a gigabyte"]
fn peaks_do_not_grow_up_to_a_gigabyte() {
    compare(1);
}

#[test]
fn peaks_of_searches_and_fields_do_not_grow_with_the_body() {
    ASKING.compare(SHORT);
}

#[test]
#[ignore = "long: bodies of up to a gigabyte"]
fn peaks_of_searches_and_fields_do_not_grow_up_to_a_gigabyte() {
    ASKING.compare(1);
}

#[test]
fn peaks_of_timelines_do_not_grow_with_the_body() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let small = timeline_peak(|| Shape::realistic(1_000_000));
    let bodies: [(&str, Shape); 4] = [
        ("1,000,000 items in a node", items(1_000_000 / MEDIUM)),
        ("25,000 runs", runs(25_000)),
        ("a key of 100 MB", one(Item::Key(100 * MB / MEDIUM))),
        ("a name of 100 MB", named(100 * MB / MEDIUM)),
    ];
    for (what, shape) in bodies {
        let peak = timeline_peak(|| shape.clone().body());
        println!("{what}: {peak}; 1 MB: {small}");
        assert!(peak < small + 10 * MB, "{what}: {peak}, of 1 MB: {small}");
    }
    // For most nodes only the type and the connections are kept, to know the connections of the nodes that are shown.
    let peak = timeline_peak(|| shape(20_000, 1, 1, Item::Small, Name::Step).body());
    println!("20,000 nodes: {peak}");
    assert!(peak < small + 5 * MB + 20_000 * 500, "{peak}");
}

#[test]
fn peaks_of_traces_do_not_grow_with_the_body() {
    // Their room is larger, so the bodies are.
    TRACES.compare(SHORT / 2);
}

#[test]
#[ignore = "long: bodies of up to a gigabyte"]
fn peaks_of_traces_do_not_grow_up_to_a_gigabyte() {
    TRACES.compare(1);
}

#[test]
fn peaks_of_look_ups_do_not_grow_with_the_body() {
    LOOK_UPS.compare(SHORT);
}

#[test]
#[ignore = "long: bodies of up to a gigabyte"]
fn peaks_of_look_ups_do_not_grow_up_to_a_gigabyte() {
    LOOK_UPS.compare(1);
}

#[test]
fn peaks_of_comparisons_do_not_grow_with_the_body() {
    COMPARISONS.compare(SHORT);
}

#[test]
#[ignore = "long: bodies of up to a gigabyte"]
fn peaks_of_comparisons_do_not_grow_up_to_a_gigabyte() {
    COMPARISONS.compare(1);
}

/// A question whose peaks may not grow with the body: the names of the peaks, how much higher than in a body of 1 MB they may
/// be, and the question itself, which receives a way to make the body and the number of a node.
struct Growth<const N: usize> {
    peaks: [&'static str; N],
    room: usize,
    ask: fn(&dyn Fn() -> Body, usize) -> [usize; N],
}

const ASKING: Growth<6> = Growth {
    peaks: ["text", "path", "two paths", "fields", "one field by another", "description"],
    room: 8 * MB,
    ask: |make, node| asking_peaks(make, node),
};
const TRACES: Growth<2> =
    Growth { peaks: ["steps", "items"], room: 16 * MB, ask: |make, node| trace_peaks(make, node) };
const LOOK_UPS: Growth<2> = Growth { peaks: ["runs", "items"], room: 8 * MB, ask: |make, _| look_up_peaks(make) };
const COMPARISONS: Growth<1> = Growth { peaks: ["comparison"], room: 8 * MB, ask: |make, _| [comparison_peak(make)] };

/// Bodies of up to a gigabyte, each large in one way, divided by `smaller`; after a small one of the same kind, which also
/// fills the reader's buffers.
fn large_bodies(smaller: usize) -> [(&'static str, Shape, Shape); 6] {
    [
        ("one string of 500 MB", one(Item::String(MB)), one(Item::String(500 * MB / smaller))),
        ("1,000,000 items in a node", items(1000), items(1_000_000 / smaller)),
        ("100,000 runs", runs(5000), runs(100_000 / smaller)),
        ("a key of 100 MB", one(Item::Key(MB)), one(Item::Key(100 * MB / smaller))),
        ("10,000,000 keys", one(Item::Keys(50_000)), one(Item::Keys(10 * MB / smaller))),
        ("10,000,000 numbers", one(Item::Array(100_000)), one(Item::Array(10 * MB / smaller))),
    ]
}

impl<const N: usize> Growth<N> {
    /// Compares the peaks in a body of 1 MB with those in bodies of up to a gigabyte, divided by `smaller`.
    fn compare(&self, smaller: usize) {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let small = (self.ask)(&|| Shape::realistic(1_000_000), REALISTIC_NODE);
        let realistic = (self.ask)(&|| Shape::realistic(1_000_000_000 / smaller as u64), REALISTIC_NODE);
        let mut large = vec![("a realistic body", realistic)];
        large.extend(large_bodies(smaller).map(|(what, _, large)| (what, (self.ask)(&|| large.clone().body(), 1))));
        for (what, peaks) in large {
            for ((name, peak), small) in self.peaks.iter().zip(peaks).zip(small) {
                println!("{what}: {name} {peak}; 1 MB: {small}");
                assert!(peak < small + self.room, "{what}: {name} {peak}, of 1 MB: {small}");
            }
        }
    }
}

#[test]
fn peaks_of_comparisons_grow_with_the_nodes_only() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let small = comparison_peak(|| Shape::realistic(1_000_000));
    // For each execution: some numbers, fields up to a limit, and fingerprints of settings up to one.
    let peak = comparison_peak(|| shape(5000, 1, 1, Item::Small, Name::Step).body());
    println!("5,000 nodes: {peak}");
    assert!(peak < small + 2 * 5000 * 1300, "{peak}");
}

/// Compares small bodies with large ones of up to a gigabyte, divided by `smaller`.
fn compare(smaller: usize) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let [summary_1, node_1] = peaks(|| Shape::realistic(1_000_000), REALISTIC_NODE);
    for bytes in [100_000_000, 1_000_000_000].map(|bytes| bytes / smaller as u64) {
        let [summary, node] = peaks(|| Shape::realistic(bytes), 17);
        println!("{bytes} bytes: summary {summary}, node {node}; 1 MB: {summary_1}, {node_1}");
        assert!(summary.abs_diff(summary_1) < EQUAL, "summary of {bytes} bytes: {summary}, of 1 MB: {summary_1}");
        assert!(node.abs_diff(node_1) < EQUAL, "node of {bytes} bytes: {node}, of 1 MB: {node_1}");
    }
    let named = ("a name of 1 MB", named(5000), named(MB / smaller));
    let nested = ("nesting of 1,000,000", one(Item::Nested(1000)), one(Item::Nested(MB / smaller)));
    for (what, small, large) in large_bodies(smaller).into_iter().chain([named, nested]) {
        let [summary_small, node_small] = peaks(|| small.clone().body(), 1);
        let [summary, node] = peaks(|| large.clone().body(), 1);
        println!("{what}: summary {summary}, node {node}; small: {summary_small}, {node_small}");
        assert!(summary < summary_small + EQUAL, "summary of {what}: {summary}, of a small one: {summary_small}");
        assert!(node < node_small + EQUAL, "node of {what}: {node}, of a small one: {node_small}");
        assert!(node < 4 * MB, "node of {what}: {node}");
    }
    // Only nodes are kept: a name, a type, a few numbers and connections each.
    let [summary, node] = peaks(|| shape(20_000, 1, 1, Item::Small, Name::Step).body(), 19_999);
    println!("20,000 nodes: summary {summary}, node {node}");
    assert!(summary < summary_1 + 20_000 * 1000, "{summary}");
    assert!(node < node_1 + 20_000 * 300, "{node}");
}

/// Larger bodies, in CI.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 10 s"]
    fn peaks_do_not_grow_with_the_body() {
        compare(MEDIUM);
    }

    #[test]
    #[ignore = "slow: 20 s"]
    fn peaks_of_questions_do_not_grow_with_the_body() {
        ASKING.compare(MEDIUM);
        TRACES.compare(MEDIUM);
        LOOK_UPS.compare(MEDIUM);
        COMPARISONS.compare(MEDIUM);
    }
}
