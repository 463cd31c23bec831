//! The paths that are looked up in the items of a node, as a tree that is walked with each item.

use super::{PATHS, Step};
use crate::execution::fields::Kind;

/// The index of the item in the tree.
pub(super) const ITEM: usize = 0;

/// The member of an item that paths begin in.
const JSON: &str = "json";

/// The paths that are looked up in the items of a node.
#[derive(Debug)]
pub(super) struct PathTree {
    nodes: Vec<TreeNode>,
    /// How many paths there are.
    leaves: usize,
}

/// A value that paths lead to, or over.
#[derive(Debug, Default)]
struct TreeNode {
    /// All members; elements have their index as a name.
    members: Vec<(String, usize)>,
    elements: Vec<(u64, usize)>,
    /// The number of the path that ends here.
    leaf: Option<usize>,
}

impl Default for PathTree {
    fn default() -> Self {
        let item = TreeNode { members: vec![(JSON.to_owned(), ITEM + 1)], ..TreeNode::default() };
        Self { nodes: vec![item, TreeNode::default()], leaves: 0 }
    }
}

impl PathTree {
    /// Adds a path; returns its number, or `None` if there are too many.
    pub(super) fn add(&mut self, path: &[Step]) -> Option<usize> {
        if let Some(leaf) = self.leaf_of(path) {
            return Some(leaf);
        }
        if self.leaves == PATHS {
            return None;
        }
        let end = path.iter().fold(ITEM + 1, |at, step| self.next(at, step).unwrap_or_else(|| self.grow(at, step)));
        self.nodes[end].leaf = Some(self.leaves);
        self.leaves += 1;
        self.nodes[end].leaf
    }

    fn leaf_of(&self, path: &[Step]) -> Option<usize> {
        path.iter().try_fold(ITEM + 1, |at, step| self.next(at, step)).and_then(|end| self.nodes[end].leaf)
    }

    fn next(&self, at: usize, step: &Step) -> Option<usize> {
        match step {
            Step::Name(name) => self.member(at, name.as_bytes()),
            Step::Index(index) => self.element(at, *index),
        }
    }

    fn grow(&mut self, at: usize, step: &Step) -> usize {
        let new = self.nodes.len();
        // In JavaScript `list["0"]` is an element, and `object[0]` a member.
        let (name, index) = match step {
            Step::Name(name) => (name.clone(), name.parse().ok().filter(|index: &u64| index.to_string() == *name)),
            Step::Index(index) => (index.to_string(), Some(*index)),
        };
        let TreeNode { members, elements, .. } = &mut self.nodes[at];
        members.push((name, new));
        elements.extend(index.map(|index| (index, new)));
        self.nodes.push(TreeNode::default());
        new
    }

    /// How many paths there are.
    pub(super) fn leaves(&self) -> usize {
        self.leaves
    }

    /// How many nodes the tree has.
    pub(super) fn tree_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The number of the path that ends here.
    pub(super) fn leaf(&self, at: usize) -> Option<usize> {
        self.nodes[at].leaf
    }

    /// Where the member with this name is.
    pub(super) fn member(&self, at: usize, name: &[u8]) -> Option<usize> {
        self.nodes[at].members.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, member)| *member)
    }

    /// Where the element with this index is.
    pub(super) fn element(&self, at: usize, index: u64) -> Option<usize> {
        self.nodes[at].elements.iter().find(|(known, _)| *known == index).map(|(_, element)| *element)
    }

    /// Whether a path leads on into an object, or else into an array.
    pub(super) fn enters(&self, at: usize, object: bool) -> bool {
        let TreeNode { members, elements, .. } = &self.nodes[at];
        if object { !members.is_empty() } else { !elements.is_empty() }
    }

    /// Notes the answers about the elements of a text of this length, which are characters.
    pub(super) fn characters(&self, at: usize, length: u64, answers: &mut [KindAtPath]) {
        for (_, element) in self.nodes[at].elements.iter().filter(|(index, _)| *index < length) {
            if let Some(leaf) = self.nodes[*element].leaf {
                answers[leaf] = KindAtPath::of_kind(Kind::String as usize);
            }
            // A character is a text.
            self.characters(*element, 1, answers);
        }
    }

    /// Forgets the answers about this value and all below it.
    pub(super) fn clear(&self, at: usize, answers: &mut [KindAtPath]) {
        let TreeNode { members, leaf, .. } = &self.nodes[at];
        if let Some(leaf) = leaf {
            answers[*leaf] = KindAtPath::MISSING;
        }
        // Each element is a member, too.
        members.iter().for_each(|(_, below)| self.clear(*below, answers));
    }
}

/// What an item has at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KindAtPath(u8);

impl KindAtPath {
    pub(super) const MISSING: Self = Self(0);

    /// A value of this [kind](super::KINDS).
    pub(super) fn of_kind(kind: usize) -> Self {
        Self(kind as u8 + 1)
    }

    /// The kind of the value, an index of [`KINDS`](super::KINDS).
    pub(super) fn kind(self) -> Option<usize> {
        usize::from(self.0).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::lookup::path_of;

    #[test]
    fn paths_share_their_beginnings_and_are_bounded() {
        let mut tree = PathTree::default();
        assert_eq!(tree.add(&path_of("a.b")), Some(0));
        assert_eq!(tree.add(&path_of("a")), Some(1));
        assert_eq!(tree.add(&path_of("a[2].b")), Some(2));
        assert_eq!(tree.add(&path_of("a.b")), Some(0));
        assert_eq!(tree.add(&[]), Some(3));
        let a = tree.member(ITEM + 1, b"a").unwrap();
        assert!(tree.enters(a, true) && tree.enters(a, false) && tree.element(a, 2).is_some());
        let mut answers = vec![KindAtPath::of_kind(3); 4];
        tree.clear(a, &mut answers);
        assert_eq!(answers.iter().map(|answer| answer.kind()).collect::<Vec<_>>(), [None, None, None, Some(3)]);
        let added = (0..2 * PATHS).filter(|at| tree.add(&path_of(&format!("x{at}"))).is_some()).count();
        assert_eq!(added, PATHS - 4);
    }
}
