use super::*;
use crate::execution::{StoredExecution, StoredProjection};
use crate::json::flatted::Flatted;

fn body(runs: &str) -> String {
    format!(r#"{{"id":"7","data":{{"resultData":{{"runData":{{{runs}}}}}}}}}"#)
}

fn input(node: &str, which: Which, path: &str) -> Question {
    Question { node: node.to_owned(), of: Of::Input(which), path: path_of(path) }
}

fn output(node: &str, of: &str, which: Which, path: &str) -> Question {
    Question {
        node: node.to_owned(),
        of: Of::Output { node: of.to_owned(), outputs: Vec::new(), which },
        path: path_of(path),
    }
}

/// Both passes, with a body in one piece, in many pieces and without the filter.
fn look(body: &str, questions: Vec<Question>) -> Vec<Found> {
    let runs = RunsProjection.read_from(body.as_bytes()).unwrap();
    let lookup = LookupProjection::new(Plan::new(&runs, questions));
    let found = lookup.read_from(std::io::BufReader::with_capacity(100, body.as_bytes())).unwrap();
    assert_eq!(found, lookup.read_from(body.as_bytes()).unwrap());
    assert_eq!(found, lookup.read(Cursor::unpruned(body.as_bytes())).unwrap());
    found
}

/// How many items have the path, and how many there are.
fn counts(body: &str, questions: Vec<Question>) -> Vec<(u64, u64)> {
    look(body, questions).iter().map(|found| (found.have, found.items)).collect()
}

fn at(place: Option<&Place>) -> (&str, u64, u64, u64) {
    place.map(|place| (place.node.as_str(), place.run, place.output, place.item)).unwrap()
}

const BRANCHES: &str = r#"
    "If":[{"executionIndex":1,"source":[{"previousNode":"Read"}],"data":{"main":[[{"json":{"a":1}},{"json":{}}],[{"json":{"b":2}}]]}},
          {"executionIndex":3,"data":{"ai_tool":[[{"json":{"a":9}}]],"main":[[{"json":{"a":"x"}}],[{"json":{"a":null}}]]}}],
    "True":[{"executionIndex":2,"source":[{"previousNode":"If"}]},{"executionIndex":4,"source":[{"previousNode":"If","previousNodeRun":1}]}],
    "All":[{"executionIndex":5,"source":[{"previousNode":"If"},{"previousNode":"If","previousNodeOutput":1},{"previousNode":"If"}]},
           {"executionIndex":6,"source":[{"previousNode":"If"}]}],
    "Read":[{"executionIndex":0,"data":{"main":[[{"json":{"a":true}}]]}}]"#;

#[test]
fn only_what_a_node_received_is_looked_at_and_each_list_once() {
    let ask = |node| input(node, Which::Any, "a");
    let questions = vec![ask("True"), ask("All"), ask("If"), output("True", "If", Which::Any, "a")];
    assert_eq!(counts(&body(BRANCHES), questions), [(2, 3), (1, 3), (1, 1), (3, 5)]);
}

#[test]
fn the_first_places_are_those_of_the_output_of_another_node() {
    let found = look(&body(BRANCHES), vec![input("True", Which::Any, "a"), output("True", "If", Which::Any, "a")]);
    assert_eq!(found[0].kinds, [0, 0, 1, 1, 0, 0]);
    // Outputs are counted across all types of connections.
    assert_eq!(at(found[0].first_of_kind[3].as_ref()), ("If", 1, 1, 0));
    assert_eq!(at(found[0].first_missing.as_ref()), ("If", 0, 0, 1));
    assert_eq!(at(found[1].first_of_kind[0].as_ref()), ("If", 1, 2, 0));
}

#[test]
fn the_order_of_execution_decides_what_is_first() {
    let runs = |first: &str, second: &str| {
        body(&format!(
            r#""A":[{{{first},"data":{{"main":[[{{"json":{{}}}}]]}}}}],"B":[{{{second},"data":{{"main":[[{{"json":{{}}}}]]}}}}],
               "C":[{{"source":[{{"previousNode":"A"}},{{"previousNode":"B"}}]}}]"#
        ))
    };
    let first = |body: &str| at(look(body, vec![input("C", Which::Any, "a")])[0].first_missing.as_ref()).0.to_owned();
    assert_eq!(first(&runs(r#""executionIndex":2"#, r#""executionIndex":1"#)), "B");
    assert_eq!(first(&runs(r#""executionIndex":1"#, r#""executionIndex":2"#)), "A");
    // The counter began again: the time decides.
    let (early, late) =
        (r#""executionIndex":0,"startTime":1795226662000"#, r#""executionIndex":0,"startTime":1795226662005"#);
    assert_eq!(first(&runs(late, early)), "B");
    assert_eq!(first(&runs(early, early)), "A");
}

#[test]
fn first_last_and_indexed_items_are_those_of_each_list() {
    let list = r#"[[{"json":{"a":1}},{"json":{"a":1}},{"json":{"a":1}},{"json":{"a":"x"}}],[{"json":{}}],[]]"#;
    let body = body(&format!(r#""A":[{{"data":{{"main":{list}}}}}]"#));
    let ask = |which| output("A", "A", which, "a");
    let asked = [Which::First, Which::Last, Which::Index(0), Which::Index(2), Which::Index(9), Which::Any];
    let found = look(&body, asked.map(ask).to_vec());
    let counts: Vec<_> = found.iter().map(|found| (found.kinds[2], found.kinds[3], found.items)).collect();
    assert_eq!(counts, [(1, 0, 2), (0, 1, 2), (1, 0, 2), (1, 0, 1), (0, 0, 0), (3, 1, 5)]);
    assert_eq!(at(found[3].first_of_kind[2].as_ref()).3, 2);
}

#[test]
fn of_members_with_one_name_the_last_one_counts() {
    let list = |json: &str| format!(r#"{{"main":[[{{"json":{json}}}]]}}"#);
    let (one, other) = (list(r#"{"a":1}"#), list(r#"{"b":1}"#));
    let twice = format!(
        r#""A":[{{"data":{one}}},{{"data":{one}}}],"B":[{{"source":[{{"previousNode":"A"}}],"data":{one},"data":{other}}}],"A":[{{"data":{other}}}]"#
    );
    let questions = ["a", "b"].map(|path| [input("B", Which::Any, path), output("B", "B", Which::Any, path)]).concat();
    assert_eq!(counts(&body(&twice), questions.clone()), [(0, 1), (0, 1), (1, 1), (1, 1)]);
    let again = body(&twice)
        .replace(r#"{"runData""#, &format!(r#"{{"runData":{{"A":[{{"data":{one}}}],"B":[{{}}]}},"runData""#));
    assert_eq!(counts(&again, questions), [(0, 1), (0, 1), (1, 1), (1, 1)]);
    let own = format!(
        r#""T":[{{"inputOverride":{one},"inputOverride":7,"source":[]}},{{"inputOverride":{one},"inputOverride":{other}}}]"#
    );
    assert_eq!(counts(&body(&own), vec![input("T", Which::Any, "a"), input("T", Which::Any, "b")]), [(0, 1), (1, 1)]);
}

#[test]
fn what_was_not_looked_up_says_why() {
    let mut questions = vec![
        input("gone", Which::Any, "a"),
        output("Read", "gone", Which::Any, "a"),
        input("Read", Which::Any, "a"),
        output("gone", "Read", Which::Any, "a"),
        input("If", Which::Any, &vec!["a"; STEPS + 1].join(".")),
        Question { path: vec![Step::Name("x".repeat(NAME_CHARS + 1))], ..input("If", Which::Any, "") },
    ];
    questions.extend((0..=PATHS).map(|at| output("If", "If", Which::Any, &format!("p{at}"))));
    let found = look(&body(BRANCHES), questions);
    let outcomes: Vec<_> = found.iter().map(|found| found.outcome).collect();
    use Outcome::{LookedUp, NoInput, NotRun, OverLimit, SourceNotRun};
    assert_eq!(outcomes[..6], [NotRun, SourceNotRun, NoInput, NotRun, OverLimit, OverLimit]);
    assert!(outcomes[6..6 + PATHS].iter().all(|outcome| *outcome == LookedUp) && outcomes[6 + PATHS] == OverLimit);
    assert!(
        found
            .iter()
            .all(|found| found.outcome == LookedUp || found == &Found { outcome: found.outcome, ..Found::default() })
    );
    let many = look(&body(BRANCHES), vec![input("If", Which::Any, "a"); QUESTIONS + 1]);
    assert_eq!((many[QUESTIONS - 1].have, many[QUESTIONS].outcome), (1, OverLimit));
}

#[test]
fn nothing_is_told_of_a_redacted_execution() {
    let redacted = body(BRANCHES)
        .replace(r#""data":{"resultData""#, r#""data":{"redactionInfo":{"isRedacted":true},"resultData""#);
    let ask = || vec![input("If", Which::Any, "a")];
    assert_eq!(look(&redacted, ask())[0], Found { outcome: Outcome::Redacted, ..Found::default() });
    // Even if it was not redacted at the time of the first pass.
    let runs = RunsProjection.read_from(body(BRANCHES).as_bytes()).unwrap();
    let found = LookupProjection::new(Plan::new(&runs, ask())).read_from(redacted.as_bytes()).unwrap();
    assert_eq!(found[0], Found { outcome: Outcome::Redacted, ..Found::default() });
}

#[test]
fn items_of_any_size_are_looked_at() {
    let list = format!("[{}0]", "0,".repeat(1_000_000));
    let item = format!(r#"{{"json":{{"list":{list},"text":"{}","after":{{"b":true}}}}}}"#, "x".repeat(2_000_000));
    let one = r#"{"json":{"after":{"b":1}}}"#;
    let body = body(&format!(r#""A":[{{"data":{{"main":[[{one},{one},{item},{item},{one},{one},7]]}}}}]"#));
    let ask = |path| output("A", "A", Which::Any, path);
    let found =
        look(&body, vec![ask("after.b"), ask("list[1000000]"), ask("list[1000001]"), ask("text"), ask("list.c")]);
    let counts: Vec<_> = found.iter().map(|found| (found.have, found.items)).collect();
    assert_eq!(counts, [(6, 7), (2, 7), (0, 7), (2, 7), (0, 7)]);
    assert_eq!((found[0].kinds[1], found[0].kinds[2]), (2, 4));
    assert_eq!(at(found[0].first_of_kind[1].as_ref()).3, 2);
}

#[test]
fn a_workflow_can_come_first_and_a_loop_is_cheap() {
    let runs: Vec<_> = (0..3000)
        .map(|run| format!(r#"{{"source":[{{"previousNode":"Loop","previousNodeRun":{run}}}],"data":{{"main":[[{{"json":{{"n":1}}}}]]}}}}"#))
        .collect();
    let runs = runs.join(",");
    let body = format!(
        r#"{{"workflowData":{{"name":"W"}},"id":"7","data":{{"resultData":{{"runData":{{"Work":[{runs}],"Loop":[{runs}]}}}}}}}}"#
    );
    let view = RunsProjection.read_from(body.as_bytes()).unwrap();
    assert_eq!((view.workflow.as_deref(), view.runs_of("Work")), (Some(&br#"{"name":"W"}"#[..]), 3000));
    assert_eq!(counts(&body, vec![input("Work", Which::Last, "n")]), [(3000, 3000)]);
}

#[test]
fn only_the_way_of_the_paths_is_read_from_a_store() {
    let items = vec!["\"8\""; 150].join(",");
    let data = format!(
        r#"[{{"resultData":"1"}},{{"runData":"2"}},{{"A":"3"}},["4"],{{"data":"5"}},{{"main":"6"}},["7"],[{items}],{{"json":"9"}},{{"list":"10","text":"11"}},[1,true,"9"],"x"]"#
    );
    let stored = || StoredExecution {
        header: br#"{"id":"7"}"#,
        workflow: Box::new(&b"{}"[..]),
        data: Flatted::new(Box::new(data.as_bytes())),
        reveal: false,
    };
    let runs = RunsProjection.read_stored(stored()).unwrap();
    let ask = |path| output("A", "A", Which::Any, path);
    let plan = Plan::new(&runs, vec![ask("list[1]"), ask("list[3]"), ask("text"), ask("list"), ask("texts")]);
    let found = LookupProjection::new(plan).read_stored(stored()).unwrap();
    let kinds: Vec<_> = found.iter().map(|found| (found.items, found.kinds)).collect();
    let of = |kind: usize| (150, std::array::from_fn(|at| if at == kind { 150 } else { 0 }));
    assert_eq!(kinds, [of(1), (150, [0; 6]), of(3), of(4), (150, [0; 6])]);
    assert_eq!(found[4].near.as_deref().map(path_text).as_deref(), Some("text"));
}
