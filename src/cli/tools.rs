//! `n8n-lens tools`: the tools as a table, for a terminal or for the documentation.

use clap::Args;
use comfy_table::Table;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;

use super::Error;
use super::terminal::print;
use crate::config::ToolChoice;
use crate::toolkit::Effect;
use crate::tools::{TOOLSETS, Tool, Toolbox};

#[derive(Args)]
pub(super) struct Tools {
    #[command(flatten)]
    choice: ToolChoice,
    /// Print Markdown, as in the documentation
    #[arg(long)]
    markdown: bool,
}

impl Tools {
    pub(super) fn run(self) -> Result<(), Error> {
        let toolbox = self.choice.toolbox()?;
        print(&if self.markdown { markdown(&toolbox) } else { plain(&toolbox) })
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

/// For a terminal.
fn plain(toolbox: &Toolbox) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(["tool", "toolset", "effect", "title"]);
    for tool in toolbox.tools() {
        table.add_row([tool.name, toolset(tool), effect(tool), tool.title]);
    }
    table.to_string()
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
        Effect::Add | Effect::Ensure => "adds",
        Effect::Overwrite => "overwrites",
    }
}
