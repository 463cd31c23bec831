//! `n8n-lens tools`: the tools as a table, as lines, as JSON, or as the tables of the documentation.

use clap::Args;
use comfy_table::Cell;
use serde_json::json;

use super::Error;
use super::table::table;
use super::terminal::{Styled, for_people, print, print_json, print_styled};
use crate::config::ToolChoice;
use crate::toolkit::Effect;
use crate::tools::{TOOLSETS, Tool, Toolbox};

#[derive(Args)]
pub(super) struct Tools {
    #[command(flatten)]
    choice: ToolChoice,
    /// Print Markdown, as in the documentation
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON: name, toolset, effect, title and description of each tool
    #[arg(long)]
    json: bool,
}

impl Tools {
    pub(super) fn run(self) -> Result<(), Error> {
        let toolbox = self.choice.toolbox()?;
        match (self.markdown, self.json) {
            (true, _) => print(&markdown(&toolbox)),
            (_, true) => print_json(&json(&toolbox)).map(drop),
            _ if for_people(false) => print_styled(&for_terminal(&toolbox)).map(drop),
            _ => print(&lines(&toolbox)),
        }
    }
}

/// As Markdown, with the first sentence of each description. The README and `docs/builder.md` contain these
/// tables; a test compares them.
fn markdown(toolbox: &Toolbox) -> String {
    let mut lines = vec!["| tool | toolset | effect | what it does |".to_owned(), "|---|---|---|---|".to_owned()];
    lines.extend(toolbox.tools().map(|tool| {
        format!("| `{}` | {} | {} | {} |", tool.name, toolset(tool), effect(tool), first_sentence(tool.description))
    }));
    lines.join("\n")
}

fn json(toolbox: &Toolbox) -> String {
    let tool = |tool: &Tool| {
        json!({
            "name": tool.name,
            "toolset": toolset(tool),
            "effect": effect(tool),
            "title": tool.title,
            "description": tool.description,
        })
    };
    json!({"tools": toolbox.tools().map(tool).collect::<Vec<_>>()}).to_string()
}

fn cells(tool: &Tool) -> [&'static str; 4] {
    [tool.name, toolset(tool), effect(tool), tool.title]
}

fn for_terminal(toolbox: &Toolbox) -> Styled {
    let rows = toolbox.tools().map(|tool| cells(tool).map(Cell::new).to_vec());
    Styled(table(["Tool", "Toolset", "Effect", "Title"], rows, &[3]))
}

/// One line per tool, with tabs between columns, for other programs.
fn lines(toolbox: &Toolbox) -> String {
    toolbox.tools().map(|tool| cells(tool).join("\t")).collect::<Vec<_>>().join("\n")
}

fn toolset(tool: &Tool) -> &'static str {
    let holds = |tools: &[&Tool]| tools.iter().any(|other| other.name == tool.name);
    TOOLSETS.iter().find(|toolset| holds(toolset.tools)).map_or("", |toolset| toolset.name)
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

fn effect(tool: &Tool) -> &'static str {
    match tool.effect {
        Effect::Read => "reads",
        Effect::Add | Effect::Rehearse | Effect::Ensure => "adds",
        Effect::Overwrite | Effect::Change => "overwrites",
    }
}
