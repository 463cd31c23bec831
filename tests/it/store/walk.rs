//! A walk over many executions: where it ends, and that nothing is visited twice or passed over.

use std::time::Duration;

use n8n_lens::store::{Execution, Listed, Query, Settings, Store, Visit, Visitor, Walk};
use tokio_util::sync::CancellationToken;

use super::execution;
use crate::support::n8n_store::N8nFolder;

/// Notes what is visited; a visit reads the whole text.
#[derive(Default)]
struct Visited(Vec<String>);

impl Visitor for Visited {
    type View = ();

    fn read(&self, mut execution: Execution<'_>) {
        let _ = execution.data.any_piece(0, |_, _| false);
    }

    fn take(&mut self, listed: Listed, visit: Visit<()>) {
        assert!(visit.view().is_some());
        self.0.push(listed.row.id().to_owned());
    }
}

/// The ids of a walk, and where it ended.
fn walk(store: &Store, most: u64, time: Duration, below: Option<i64>) -> (Vec<String>, Option<String>) {
    let query = Query { below, ..Query::default() };
    let (walk, mut visited) = (Walk { query, most, hits: u64::MAX, time, texts: Vec::new() }, Visited::default());
    let last = store.walk(&walk, &CancellationToken::new(), &mut visited).unwrap();
    (visited.0, last.map(|row| row.id().to_owned()))
}

#[test]
fn a_walk_says_whether_something_is_left() {
    let folder = N8nFolder::wal();
    (1..=130).for_each(|id| folder.save(&execution("a_small_success", id)));
    let location = folder.path().to_str().unwrap().to_owned();
    let store = Store::find(&Settings { location, ..Settings::default() }).unwrap();
    let minute = Duration::from_secs(60);
    for (most, last) in [(1, Some("130")), (100, Some("31")), (129, Some("2")), (130, None), (131, None)] {
        let (visited, ended) = walk(&store, most, minute, None);
        assert_eq!((visited.len() as u64, ended.as_deref()), (most.min(130), last));
    }
    // Without time, one execution is visited, so that the next call gets further.
    let mut all = Vec::new();
    let mut below = None;
    loop {
        let (visited, last) = walk(&store, 1_000, Duration::ZERO, below);
        assert_eq!(visited.len(), 1);
        all.extend(visited);
        let Some(last) = last else { break };
        below = last.parse().ok();
    }
    assert_eq!(all, (1..=130).rev().map(|id| id.to_string()).collect::<Vec<_>>());
}

#[test]
fn the_time_of_a_walk_ends_inside_a_text() {
    let folder = N8nFolder::wal();
    for id in 1..=3 {
        let mut body = execution("a_small_success", id);
        let size = if id == 2 { 60_000_000 } else { 10 };
        body["data"]["resultData"]["note"] = serde_json::json!("x".repeat(size));
        folder.save(&body);
    }
    let location = folder.path().to_str().unwrap().to_owned();
    let store = Store::find(&Settings { location, ..Settings::default() }).unwrap();
    let (visited, last) = walk(&store, 1_000, Duration::from_millis(15), None);
    // The large one is not visited, unless it is the first one.
    assert!(visited == ["3"] && last.as_deref() == Some("3"), "{visited:?} {last:?}");
    let (visited, last) = walk(&store, 1_000, Duration::from_millis(15), Some(3));
    assert!(visited == ["2"] && last.as_deref() == Some("2"), "{visited:?} {last:?}");
}
