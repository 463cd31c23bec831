//! The tools that tests expect to see, derived from the library's toolsets.

use n8n_lens::tools::{TOOLSETS, Tool, ToolSelection, Toolbox};

/// The names of all toolsets, as `--toolsets` accepts them.
pub fn all_toolsets() -> String {
    TOOLSETS.map(|toolset| toolset.name).join(",")
}

/// The tools of these toolsets, or of the default toolsets if none is given, in the order of `tools/list`.
pub fn tools(toolsets: &[&str]) -> Vec<&'static Tool> {
    let toolsets = toolsets.iter().map(|name| (*name).to_owned()).collect();
    Toolbox::new(&ToolSelection { toolsets, ..ToolSelection::default() }).unwrap().tools().collect()
}

/// The tools of these toolsets where executions come from n8n's store.
pub fn of_store(toolsets: &[&str]) -> Vec<&'static Tool> {
    let toolsets = toolsets.iter().map(|name| (*name).to_owned()).collect();
    let selection = ToolSelection { toolsets, with_store: true, ..ToolSelection::default() };
    Toolbox::new(&selection).unwrap().tools().collect()
}

/// All tools.
pub fn all() -> Vec<&'static Tool> {
    tools(&TOOLSETS.map(|toolset| toolset.name))
}

/// The names of tools.
pub fn names(tools: &[&'static Tool]) -> Vec<&'static str> {
    tools.iter().map(|tool| tool.name).collect()
}
