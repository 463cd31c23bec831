//! Which tools there are, by the library's own lists: what tests expect of a list of tools follows from here.

use n8n_lens::tools::{Selection, TOOLSETS, Tool, Toolbox};

/// The names of all toolsets, as `--toolsets` accepts them.
pub fn all_toolsets() -> String {
    TOOLSETS.map(|toolset| toolset.name).join(",")
}

/// The tools of these toolsets, or of the default ones if none is named, in the order in which clients see them.
pub fn tools(toolsets: &[&str]) -> Vec<&'static Tool> {
    let toolsets = toolsets.iter().map(|name| (*name).to_owned()).collect();
    Toolbox::new(&Selection { toolsets, ..Selection::default() }).unwrap().tools().collect()
}

/// All tools.
pub fn all() -> Vec<&'static Tool> {
    tools(&TOOLSETS.map(|toolset| toolset.name))
}

/// The names of tools.
pub fn names(tools: &[&'static Tool]) -> Vec<&'static str> {
    tools.iter().map(|tool| tool.name).collect()
}
