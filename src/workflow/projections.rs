//! The projections of a workflow, and of a list of them.

use std::io::Read;

use super::graph::{self, Graph};
use super::one_node::{self, OneNode};
use super::outline::{self, Outline, Page};
use super::types;
use super::whole::{self, Whole};
use crate::json::{Cursor, Keep, Projection, ReadError};

/// Reads the [`Outline`] of a workflow; `None` if the body is not a workflow.
#[derive(Clone, Copy, Debug)]
pub struct OutlineProjection;

impl Projection for OutlineProjection {
    type View = Result<Option<Outline>, ReadError>;
    const KEEP: Keep = outline::KEEP;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        outline::read(cursor)
    }
}

/// Reads a [`Page`] of outlines; `None` if the body is not a list.
#[derive(Clone, Copy, Debug)]
pub struct OutlinePageProjection;

impl Projection for OutlinePageProjection {
    type View = Result<Option<Page>, ReadError>;
    const KEEP: Keep = outline::KEEP_LIST;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        outline::read_list(cursor)
    }
}

/// Reads a workflow as n8n's own object; `None` if the body is not a workflow.
#[derive(Clone, Copy, Debug)]
pub struct RawProjection;

impl Projection for RawProjection {
    type View = Result<Option<Whole>, ReadError>;
    const KEEP: Keep = whole::KEEP;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        whole::read(cursor)
    }
}

/// Reads one node of a workflow, by its name or id; `None` if the body is not a workflow.
#[derive(Clone, Debug)]
pub struct NodeProjection {
    /// The name or id.
    pub node: String,
}

impl Projection for NodeProjection {
    type View = Result<Option<OneNode>, ReadError>;
    const KEEP: Keep = one_node::KEEP;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        one_node::read(cursor, &self.node)
    }
}

/// Reads the [`Graph`] of a workflow; `None` if the body is not a workflow.
#[derive(Clone, Copy, Debug)]
pub struct GraphProjection;

impl Projection for GraphProjection {
    type View = Result<Option<Graph>, ReadError>;
    const KEEP: Keep = graph::KEEP;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        graph::read(cursor)
    }
}

/// Reads the node types that a list of workflows uses, the most used first.
#[derive(Clone, Copy, Debug)]
pub struct UsedTypesProjection;

impl Projection for UsedTypesProjection {
    type View = Result<Vec<String>, ReadError>;
    const KEEP: Keep = types::KEEP;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        types::read(cursor)
    }
}
