//! What an item has at each path that is looked up.

use super::events::{Events, Text};
use super::path_tree::{ITEM, KindAtPath, PathTree};
use crate::execution::fields::Kind;

/// Finds what an item has at each path.
pub(super) struct Answers<'a> {
    tree: &'a PathTree,
    answers: &'a mut Vec<KindAtPath>,
    open: Vec<Open>,
    /// The place of the value of the member that was named last.
    member: Option<usize>,
}

/// A container that a path leads into.
struct Open {
    at: usize,
    /// In an array: the index of the next element.
    index: Option<u64>,
}

impl<'a> Answers<'a> {
    pub(super) fn new(tree: &'a PathTree, answers: &'a mut Vec<KindAtPath>) -> Self {
        answers.clear();
        answers.resize(tree.leaves(), KindAtPath::MISSING);
        Self { tree, answers, open: Vec::new(), member: None }
    }

    /// A value begins; returns where in the tree.
    fn value(&mut self, kind: Kind) -> Option<usize> {
        let at = match self.open.last_mut() {
            None => Some(ITEM),
            Some(Open { at, index: Some(index) }) => {
                *index += 1;
                self.tree.element(*at, *index - 1)
            }
            Some(Open { index: None, .. }) => self.member.take(),
        };
        if let Some(leaf) = at.and_then(|at| self.tree.leaf(at)) {
            self.answers[leaf] = KindAtPath::of_kind(kind as usize);
        }
        at
    }
}

impl Events for Answers<'_> {
    fn open(&mut self, object: bool) -> bool {
        let at = self.value(Kind::of_container(object)).filter(|at| self.tree.enters(*at, object));
        self.open.extend(at.map(|at| Open { at, index: (!object).then_some(0) }));
        at.is_some()
    }

    fn name(&mut self, name: &str) {
        self.member = self.open.last().and_then(|open| self.tree.member(open.at, name.as_bytes()));
        // Of several members with one name the last one counts.
        if let Some(member) = self.member {
            self.tree.clear(member, self.answers);
        }
    }

    fn scalar(&mut self, kind: Kind) {
        self.value(kind);
    }

    fn string(&mut self, text: Text<'_>) {
        if let Some(at) = self.value(Kind::String).filter(|at| self.tree.enters(*at, false)) {
            self.tree.characters(at, text.length(), self.answers);
        }
    }

    fn close(&mut self) {
        self.open.pop();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::execution::lookup::{KINDS, Step, events, path_of};
    use crate::json::Cursor;

    /// The kinds that an item has at paths, read in both ways.
    pub(in crate::execution::lookup) fn kinds(item: &str, paths: &[&str]) -> Vec<Option<&'static str>> {
        let mut tree = PathTree::default();
        paths.iter().for_each(|path| assert!(tree.add(&path_of(path)).is_some()));
        let (mut answers, mut others) = (Vec::new(), Vec::new());
        events::of_text(item.as_bytes(), &mut Answers::new(&tree, &mut answers)).unwrap();
        let mut cursor = Cursor::unpruned(item.as_bytes());
        events::of_body(&mut cursor, &mut Answers::new(&tree, &mut others)).unwrap();
        cursor.finish().unwrap();
        assert_eq!(answers, others, "{item}");
        answers.iter().map(|answer| answer.kind().map(|kind| KINDS[kind])).collect()
    }

    #[test]
    fn each_step_must_exist() {
        let item = r#"{"a":0,"json":{"a":null,"b":{"c":[1,{"d":"x"},[]],"":true}},"pairedItem":{"item":0}}"#;
        let paths = ["a", "b.c", "b.c[1].d", "b.c[2]", "b.c[3]", "b.c[0]", "a.b", "b[0]", "b.c.d", "pairedItem", "b."];
        let expected = ["null", "array", "string", "array", "", "number", "", "", "", "", "boolean"];
        assert_eq!(kinds(item, &["b.c[1].d[0]", "b.c[1].d[0].x", "a[0]"]), [Some("string"), None, None]);
        let characters = ["b.c[1].d[1]", "b.c[1].d[0][0]", "b.c[1].d[0][1]"];
        assert_eq!(kinds(item, &characters), [None, Some("string"), None]);
        assert_eq!(kinds(item, &paths).iter().map(|kind| kind.unwrap_or_default()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_index_can_be_a_name_and_a_name_an_index() {
        let item = r#"{"json":{"0":"first","list":[{"a":1}],"01":true}}"#;
        assert_eq!(kinds(item, &["[0]", "list[0].a", "list[1]"]), [Some("string"), Some("number"), None]);
        let name = |name: &str| vec![Step::Name("list".to_owned()), Step::Name(name.to_owned())];
        let mut tree = PathTree::default();
        assert!(tree.add(&name("0")).is_some() && tree.add(&name("00")).is_some());
        let mut answers = Vec::new();
        events::of_text(item.as_bytes(), &mut Answers::new(&tree, &mut answers)).unwrap();
        assert_eq!(answers.iter().map(|answer| answer.kind().is_some()).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn the_last_member_with_a_name_counts() {
        let item = r#"{"json":{"a":{"b":1}},"json":{"a":{"b":1},"\u0061":{"c":2}}}"#;
        assert_eq!(kinds(item, &["a.b", "a.c", "a"]), [None, Some("number"), Some("object")]);
        assert_eq!(kinds(r#"{"json":{"a":1},"json":"x"}"#, &["a"]), [None]);
    }

    #[test]
    fn what_is_no_item_has_nothing() {
        for item in ["1", "null", "\"json\"", "[]", "[{\"json\":{\"a\":1}}]", "{}", r#"{"json":[{"a":1}]}"#] {
            assert_eq!(kinds(item, &["a"]), [None], "{item}");
        }
        assert_eq!(kinds(r#"{"json":{"half \ud83d":1}}"#, &["half \u{fffd}"]), [Some("number")]);
    }
}
