//! The command line. On a terminal it prints for people; otherwise it prints what the tools return.

mod arguments;
mod browser;
mod cache;
mod catalogue;
mod check;
mod commands;
#[cfg(feature = "coordination")]
mod coordinate;
mod examples;
mod expectation;
mod export;
#[cfg(feature = "gateway")]
mod gateway;
mod help;
mod invocation;
#[cfg(unix)]
mod launcher;
mod log;
mod panic_hook;
mod progress;
mod render;
mod render_compare;
mod render_many;
mod render_proof;
mod render_workflow;
mod setup;
mod source;
mod spelling;
mod table;
mod terminal;
mod tool_command;
mod tools;
mod view;
mod words;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use self::terminal::{introduce, print};
#[cfg(feature = "gateway")]
use crate::config::GatewayOptions;
use crate::config::{self, LogOptions, ReadingOptions, ServerOptions, Transport};
use crate::tools::executions::Source as Executions;
use crate::tools::workflows::check_workflow;
use crate::tools::{CatalogueCache, Context, Folders, IdenticalCalls, MemoryStore};
use crate::transport;
use crate::undo;
use crate::workflow::file::Files;

/// Inspect n8n executions of any size, within a token budget.
///
/// Without a command, serves MCP on standard input and output; see `n8n-lens serve --help` for its options.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    server: ServerOptions,

    #[command(flatten)]
    log: LogOptions,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Invocation(invocation::Invocation),
    /// Open a page in the browser: the list of executions, or one of them
    View(view::View),
    /// Serve n8n's tools over MCP (the default)
    Serve(ServerOptions),
    /// Serve MCP servers over plain REST
    #[cfg(feature = "gateway")]
    Gateway(GatewayOptions),
    /// Coordinate agents: projects, tasks, sessions, handoffs (serves MCP by default)
    #[cfg(feature = "coordination")]
    Coordinate(coordinate::Coordinate),
    /// Add n8n-lens to an MCP client's configuration
    Setup(setup::Setup),
    /// Check the address, the API key, its scopes and n8n's version
    Check(check::Check),
    /// List the tools that the server offers
    Tools(tools::Tools),
    /// Manage the catalogue of node types, which node_search uses
    #[command(subcommand)]
    Catalogue(catalogue::Command),
    /// Show what is in the cache of executions
    Cache(cache::Command),
    /// Export executions of n8n's store for other programs, as JSON lines or as traces of OpenTelemetry
    Export(export::Export),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Why a command fails.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Settings(#[from] config::Error),
    #[error(transparent)]
    Tool(#[from] crate::tools::Error),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Input(String),
    #[error("{0}")]
    Transport(String),
}

impl Error {
    /// 1 for a failure, 2 for wrong usage.
    fn exit_code(&self) -> u8 {
        match self {
            Self::Settings(_) | Self::Usage(_) | Self::Tool(crate::tools::Error::Argument(_)) => 2,
            _ => 1,
        }
    }
}

/// Runs the command line and returns its exit code: 0 success, 1 failure, 2 wrong usage.
pub fn run() -> ExitCode {
    #[cfg(feature = "gateway")]
    // Only the gateway starts this. It stays small: not even the arguments are parsed.
    if crate::gateway::run_as_reaper(std::env::args_os().nth(1).as_deref()) {
        return ExitCode::SUCCESS;
    }
    panic_hook::install();
    #[cfg(unix)]
    launcher::end_with_launcher();
    let cli = arguments::parse(std::env::args_os().collect()).unwrap_or_else(|error| terminal::usage(&error));
    log::install(cli.log.level());
    let done = runtime(&cli)
        .enable_all()
        .build()
        .map_err(|error| Error::Input(format!("The runtime could not be started: {error}.")))
        .and_then(|runtime| {
            let done = runtime.block_on(cli.run());
            runtime.block_on(undo::finish());
            // A read of standard input may still be blocked; abandoning it loses nothing.
            runtime.shutdown_background();
            done
        });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::report(&match &error {
                // Its message speaks to an agent; other messages name tools only as values.
                Error::Tool(error) => words::TERMINAL.tell(&error.to_string()).into_owned(),
                error => error.to_string(),
            });
            ExitCode::from(error.exit_code())
        }
    }
}

/// One client needs one thread; a server for many clients uses all cores.
fn runtime(cli: &Cli) -> tokio::runtime::Builder {
    let for_many = match &cli.command {
        None => cli.server.transport == Transport::Http,
        Some(Command::Serve(server)) => server.transport == Transport::Http,
        #[cfg(feature = "coordination")]
        Some(Command::Coordinate(command)) => command.is_for_many(),
        #[cfg(feature = "gateway")]
        Some(Command::Gateway(_)) => true,
        Some(Command::View(_)) => true,
        Some(_) => false,
    };
    match for_many {
        true => tokio::runtime::Builder::new_multi_thread(),
        false => tokio::runtime::Builder::new_current_thread(),
    }
}

impl Cli {
    async fn run(self) -> Result<(), Error> {
        match self.command {
            None => serve(&self.server).await,
            Some(Command::Serve(server)) => serve(&server).await,
            Some(Command::Invocation(command)) => command.run().await,
            Some(Command::View(command)) => command.run().await,
            #[cfg(feature = "gateway")]
            Some(Command::Gateway(options)) => gateway::run(&options).await,
            #[cfg(feature = "coordination")]
            Some(Command::Coordinate(command)) => command.run().await,
            Some(Command::Setup(command)) => command.run().await,
            Some(Command::Check(command)) => command.run().await,
            Some(Command::Catalogue(command)) => command.run(),
            Some(Command::Cache(command)) => command.run().await,
            Some(Command::Export(command)) => command.run().await,
            Some(Command::Tools(command)) => command.run(),
            Some(Command::Completions { shell }) => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Self::command(), "n8n-lens", &mut script);
                print(String::from_utf8_lossy(&script).trim_end())
            }
        }
    }
}

/// Serves n8n's tools until the client closes the connection or a signal arrives.
async fn serve(server: &ServerOptions) -> Result<(), Error> {
    if server.transport == Transport::Stdio {
        introduce("n8n-lens");
    }
    let (toolbox, files, reading) = (server.toolbox()?, server.files()?, server.reading());
    let with_files = |executions| Context {
        files,
        catalogue: CatalogueCache::new(server.catalogue.path()),
        offers_check: toolbox.find(check_workflow::TOOL.name).is_ok(),
        ..context(&reading, executions)
    };
    match server.transport {
        Transport::Stdio => {
            let context = with_files(source::of(&reading)?);
            transport::serve_stdio(context, toolbox).await
        }
        Transport::Http => {
            let access = server.access()?;
            reading.sources.store.check_access(&access, "N8N_LENS_AUTH_TOKEN")?;
            let context = with_files(source::of_requests(&reading)?);
            let page = view::settings(&reading.language);
            transport::serve_http(context, toolbox, (server.bare_host(), server.port), &access, &page).await
        }
    }
    .map_err(Error::Transport)
}

/// The context of every tool call, without workflow files and a catalogue.
fn context(reading: &ReadingOptions, executions: Executions) -> Context {
    Context {
        api: executions.api,
        store: executions.store,
        saved: executions.saved,
        locale: reading.language.locale(),
        redact: reading.redact,
        files: Files::default(),
        folders: Folders::default(),
        memory: MemoryStore::default(),
        catalogue: CatalogueCache::new(None),
        identical: IdenticalCalls::default(),
        offers_check: false,
    }
}
