//! Adding and removing connections.

use super::resolve::{Resolved, input_of, output_of, resolve};
use super::{Changed, ConnectionRequest, Editor, NodeTypes};
use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::workflow::Error;
use crate::workflow::connections::{Connection, PortRef};

impl Editor<'_> {
    pub(super) fn connect(&mut self, request: &ConnectionRequest, types: NodeTypes<'_>) -> Result<Vec<Changed>, Error> {
        let ends = [self.find(&request.source)?, self.find(&request.target)?];
        for end in ends {
            self.connected_name(end)?;
        }
        let Resolved { connection, .. } = resolve(self, ends, [&request.source_output, &request.target_input], types)?;
        if connection.source == connection.target {
            return Err(Error::Edit(format!(
                "{} cannot be connected to itself; name two nodes",
                quoted_name(&connection.source, CUT_NAME_CHARS)
            )));
        }
        let is_new = self.connections()?.add(&connection);
        Ok(vec![Changed::Connected { connection, is_new }])
    }

    /// Removes connections of a source; `ports` are an output and an input.
    pub(super) fn disconnect(
        &mut self,
        source: &str,
        target: Option<&str>,
        ports: [Option<&str>; 2],
        types: NodeTypes<'_>,
    ) -> Result<Vec<Changed>, Error> {
        let (from, source) = self.connected(source)?;
        let (to, target) = match target.map(|target| self.connected(target)).transpose()? {
            Some((to, target)) => (to, Some(target)),
            None => (None, None),
        };
        let [output, input] = ports;
        let output = output.map(|word| output_of(self, from, word, types)).transpose()?;
        let input = input.map(|word| input_of(self, to, word, types)).transpose()?;
        let goes = |connection: &Connection| {
            connection.source == source
                && target.as_ref().is_none_or(|target| connection.target == *target)
                && output.as_ref().is_none_or(|output| connection.output == *output)
                && input.as_ref().is_none_or(|input| connection.input == *input)
        };
        let removed = self.connections()?.retain(|connection| !goes(connection));
        if removed.is_empty() {
            let all = self.connections()?.iter().filter(|connection| connection.source == source);
            let all: Vec<_> = all.map(|connection| connection.to_string()).collect();
            let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
            return Err(Error::Edit(format!("there is no such connection; those of '{source}' are: {all}")));
        }
        Ok(removed.into_iter().map(Changed::Disconnected).collect())
    }

    /// The index of a node, and the name by which connections know it; without an index if only connections name it.
    fn connected(&mut self, node: &str) -> Result<(Option<usize>, String), Error> {
        let found = self.find(node);
        let is_named = |one: Connection| one.source == node || one.target == node;
        match found {
            Ok(at) => Ok((Some(at), self.connected_name(at)?)),
            Err(_) if self.connections()?.iter().any(is_named) => Ok((None, node.to_owned())),
            Err(error) => Err(error),
        }
    }

    /// A node and one of its outputs; by default its first.
    pub(super) fn source(
        &self,
        node: &str,
        output: Option<&str>,
        types: NodeTypes<'_>,
    ) -> Result<(usize, PortRef), Error> {
        let at = self.find(node)?;
        self.connected_name(at)?;
        Ok((at, output_of(self, Some(at), output.unwrap_or("main"), types)?))
    }

    /// Checks that both nodes have the ends of a connection.
    pub(super) fn check_ports(&self, connection: &Connection, types: NodeTypes<'_>) -> Result<(), Error> {
        super::resolve::check_connection(self, connection, types)
    }
}
