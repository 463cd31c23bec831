//! `n8n-lens view`: the page, in the browser.

use std::io::{Write, stderr};

use clap::Args;

use super::source::{self, is_id};
use super::terminal::print;
use super::{Error, browser, context};
use crate::config::{Downloads, Language, ReadingOptions};
use crate::tools::{ToolSelection, Toolbox};
use crate::transport;
use crate::transport::PageSettings;

/// The id that the page uses for an execution in a file, which is the only one.
const SAVED: &str = "0";

#[derive(Args)]
pub(super) struct View {
    #[command(flatten)]
    reading: ReadingOptions,

    #[command(flatten)]
    downloads: Downloads,

    /// An execution's id, or a file with its body (may be gzip-compressed); without one, the page begins with the list
    execution: Option<String>,
    /// What the page may do besides reading: proof, to prove the draft of a workflow with a failed execution
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = ["proof"])]
    toolsets: Vec<String>,
    /// Print the address, and do not open it in the browser
    #[arg(long)]
    no_open: bool,
    /// Port of this machine to listen on; 0 picks a free one
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    port: u16,
}

impl View {
    pub(super) async fn run(self) -> Result<(), Error> {
        let reading = self.reading.with(self.downloads);
        let id = self.execution.as_deref().filter(|execution| is_id(execution));
        let file = self.execution.as_deref().filter(|_| id.is_none());
        if file == Some("-") {
            let refusal = "The page reads an execution more than once, and standard input can be read only once: save it to a file.";
            return Err(Error::Usage(refusal.to_owned()));
        }
        let executions = match file {
            Some(file) => source::of_file(file, SAVED)?,
            None => source::of(&reading)?,
        };
        let selection = ToolSelection {
            read_only: self.toolsets.is_empty(),
            toolsets: ["executions".to_owned()].into_iter().chain(self.toolsets).collect(),
            with_store: reading.sources.store.is_named(),
            ..ToolSelection::default()
        };
        let toolbox = Toolbox::new(&selection).map_err(Error::Usage)?;
        let settings = PageSettings { execution: file.map(|_| SAVED), ..settings(&reading.language) };
        let context = context(&reading, executions);
        let view = transport::View::bind(context, toolbox, &settings, self.port).await.map_err(Error::Transport)?;
        let fragment = id.map(|id| format!("#/{id}")).unwrap_or_default();
        let address = format!("{}{fragment}", view.address());
        print(&address)?;
        let entered = view.entered();
        let opening = async {
            let redirect = if self.no_open { None } else { browser::open(&address).await };
            let next = match redirect {
                Some(_) => "The page opens in the browser. If it does not, open this address there.",
                None => "Open this address in a browser.",
            };
            // Nothing is lost if nobody reads it.
            let _ = writeln!(stderr(), "{next} Ctrl-C ends it.");
            entered.await;
            drop(redirect);
            std::future::pending().await
        };
        tokio::select! {
            () = view.serve() => Ok(()),
            never = opening => never,
        }
    }
}

/// The page's settings, from the options.
pub(super) fn settings(language: &Language) -> PageSettings {
    PageSettings { locale: language.given(), execution: None }
}
