//! The door for people: the command line. Piped, it prints what the tools send.

mod catalogue;
mod check;
mod coordinate;
mod fault;
mod gateway;
mod progress;
mod render;
mod source;
mod tools_table;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, CommandFactory, Parser, Subcommand};
use serde_json::{Map, Value, json};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{self, GatewayOptions, Options, ServerOptions, ToolChoice, Transport};
use crate::execution::{node, summary};
use crate::gateway::keeper;
use crate::json::{Batches, Cursor, Pruner};
use crate::n8n::{Client, Progress, Settings};
use crate::tools::executions::get_execution_by_node::{self, Question};
use crate::tools::executions::{get_execution, list_executions};
use crate::tools::{self, Arguments, CatalogueCache, Context, MemoryStore};
use crate::workflow::file::Files;
use crate::{budget, transport};
use source::Source;

/// Look into n8n executions of any size, inside a token budget.
///
/// Without a command it serves MCP on standard input and output.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = false)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    options: Options,

    #[command(flatten)]
    server: ServerOptions,
}

#[derive(Subcommand)]
enum Command {
    /// Summarize an execution
    Summary(Summary),
    /// Show one node of an execution
    Node(Node),
    /// List executions, newest first
    List(List),
    /// Say whether the address, the API key, its scopes and n8n's version are fine
    Check,
    /// Put MCP servers behind plain REST
    Gateway(GatewayOptions),
    /// Coordinate agents: projects, tasks, sessions, handoffs. Without a command it serves MCP
    Coordinate(coordinate::Coordinate),
    /// List the tools that the server offers
    Tools(Tools),
    /// The catalogue of node types, for node_search
    #[command(subcommand)]
    Catalogue(Catalogue),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Subcommand)]
enum Catalogue {
    /// Build it from n8n's packages: from npm, or from a folder where n8n is installed
    Update {
        /// The folder
        #[arg(long, value_name = "DIR")]
        from: Option<PathBuf>,
    },
}

#[derive(Args)]
struct Tools {
    #[command(flatten)]
    choice: ToolChoice,
    /// As the table of the README
    #[arg(long)]
    markdown: bool,
}

#[derive(Args)]
struct Summary {
    /// An execution's id, a file with its body (may be gzip-compressed), or - for standard input
    execution: String,
    /// Skip so many nodes
    #[arg(long, value_name = "N")]
    offset: Option<u64>,
    #[command(flatten)]
    shared: Shared,
}

#[derive(Args)]
struct Node {
    /// An execution's id, a file with its body (may be gzip-compressed), or - for standard input
    execution: String,
    /// The node's name
    node: String,
    /// Which run, from 0 (default: the first failed one, else the last)
    #[arg(long, value_name = "N")]
    run_index: Option<u64>,
    /// Only this output, from 0
    #[arg(long, value_name = "N")]
    output_index: Option<u64>,
    /// Skip so many items
    #[arg(long, value_name = "N")]
    offset: Option<u64>,
    /// At most so many items of each input and output, 1 to 50
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// The largest answer, 1000 to 25000 tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    #[command(flatten)]
    shared: Shared,
}

#[derive(Args)]
struct Shared {
    /// Ask n8n for data above its display limit
    #[arg(long)]
    ignore_data_size_limit: bool,
    /// Print the tool's JSON on a terminal, too
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct List {
    /// Only this workflow's
    #[arg(long, value_name = "ID")]
    workflow_id: Option<String>,
    /// Only with this status
    #[arg(long)]
    status: Option<String>,
    /// At most so many, 1 to 100
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// nextCursor of the last answer
    #[arg(long)]
    cursor: Option<String>,
    /// Started then or later, ISO 8601
    #[arg(long, value_name = "DATE")]
    started_after: Option<String>,
    /// Started then or before
    #[arg(long, value_name = "DATE")]
    started_before: Option<String>,
    /// n8n's own objects
    #[arg(long)]
    raw: bool,
    /// The largest answer, 1000 to 25000 tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Print the tool's JSON on a terminal, too
    #[arg(long)]
    json: bool,
}

/// Why a command ends without an answer.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Settings(#[from] config::Error),
    #[error(transparent)]
    Tool(#[from] tools::Error),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Input(String),
    #[error("{0}")]
    Transport(String),
}

impl Error {
    /// 1 failed, 2 usage.
    fn exit_code(&self) -> u8 {
        match self {
            Self::Settings(_) | Self::Usage(_) | Self::Tool(tools::Error::Argument(_)) => 2,
            _ => 1,
        }
    }
}

/// Runs the command line; gives the exit code: 0 done, 1 failed, 2 usage.
pub fn run() -> ExitCode {
    // Not a command for people, and small: it does not even touch what reads those.
    if std::env::args_os().nth(1).is_some_and(|first| first == keeper::ARGUMENT) {
        keeper::run();
        return ExitCode::SUCCESS;
    }
    fault::tell();
    let cli = Cli::parse();
    log(&cli.options);
    let done = runtime(&cli)
        .enable_all()
        .build()
        .map_err(|error| Error::Input(format!("The runtime could not be started: {error}.")))
        .and_then(|runtime| {
            let done = runtime.block_on(cli.run());
            // A reader of standard input may still block; nothing is lost by leaving it.
            runtime.shutdown_background();
            done
        });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "n8n-lens: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// One client needs one thread; a server for many takes all cores.
fn runtime(cli: &Cli) -> tokio::runtime::Builder {
    let for_many = match &cli.command {
        None => cli.server.transport == Transport::Http,
        Some(Command::Coordinate(command)) => command.is_for_many(),
        Some(command) => matches!(command, Command::Gateway(_)),
    };
    match for_many {
        true => tokio::runtime::Builder::new_multi_thread(),
        false => tokio::runtime::Builder::new_current_thread(),
    }
}

/// Logs go to standard error. Other crates only warn, and rmcp says nothing: it prints whole messages, and
/// addresses with all that is in them.
fn log(options: &Options) {
    let level = options.log_level();
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("rmcp", LevelFilter::OFF)
        .with_target("n8n_lens", level);
    let layer =
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    tracing_subscriber::registry().with(layer).with(targets).init();
}

/// Whether a person reads.
fn for_people(json: bool) -> bool {
    !json && std::io::stdout().is_terminal()
}

/// A closed pipe is the reader's choice.
fn print(text: &str) -> Result<(), Error> {
    is_read(text).map(drop)
}

/// Prints, and says whether anybody is there to read it.
fn is_read(text: &str) -> Result<bool, Error> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::Input(format!("Standard output: {error}."))),
    }
}

impl Cli {
    async fn run(self) -> Result<(), Error> {
        let options = self.options;
        match self.command {
            None => self.server.serve(&options).await,
            Some(Command::Summary(command)) => command.run(&options).await,
            Some(Command::Node(command)) => command.run(&options).await,
            Some(Command::List(command)) => command.run(&options).await,
            Some(Command::Gateway(gateway_options)) => gateway::run(&gateway_options, &options).await,
            Some(Command::Coordinate(command)) => command.run(&options).await,
            Some(Command::Check) => check::run(&Client::new(options.n8n()?)).await,
            Some(Command::Catalogue(Catalogue::Update { from })) => {
                catalogue::update(from.as_deref(), options.catalogue())
            }
            Some(Command::Tools(command)) => {
                let toolbox = command.choice.toolbox()?;
                print(&if command.markdown { tools_table::markdown(&toolbox) } else { tools_table::plain(&toolbox) })
            }
            Some(Command::Completions { shell }) => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Self::command(), "n8n-lens", &mut script);
                print(String::from_utf8_lossy(&script).trim_end())
            }
        }
    }
}

impl ServerOptions {
    async fn serve(&self, options: &Options) -> Result<(), Error> {
        let (toolbox, files) = (self.toolbox()?, self.files()?);
        let context = |settings| context_of(options, settings, files);
        match self.transport {
            Transport::Stdio => transport::serve_stdio(context(options.n8n()?), toolbox).await,
            Transport::Http => {
                let (access, settings) = (self.access()?, options.n8n_without_key()?);
                transport::serve_http(context(settings), toolbox, (self.bare_host(), self.port), &access).await
            }
        }
        .map_err(Error::Transport)
    }
}

fn context(options: &Options) -> Result<Arc<Context>, Error> {
    Ok(Arc::new(context_of(options, options.n8n()?, Files::default())))
}

fn context_of(options: &Options, settings: Settings, files: Files) -> Context {
    Context {
        n8n: Client::new(settings),
        locale: options.locale,
        redact: options.redact,
        files,
        memory: MemoryStore::default(),
        catalogue: CatalogueCache::new(options.catalogue()),
    }
}

/// Arguments as an MCP client would send them; those that were not given are left out.
fn arguments(given: Value) -> Map<String, Value> {
    let Value::Object(mut arguments) = given else {
        return Map::new();
    };
    arguments.retain(|_, value| !value.is_null());
    arguments
}

/// Calls a tool, with a bar on a terminal.
async fn call(tool: &tools::Tool, options: &Options, given: Value) -> Result<String, Error> {
    let context = context(options)?;
    let (progress, bar) = progress::bar();
    let call = tool.run(context, arguments(given), progress);
    Ok(bar.around(call).await?)
}

impl Summary {
    async fn run(self, options: &Options) -> Result<(), Error> {
        let given = json!({
            "id": self.execution,
            "offset": self.offset,
            "ignoreDataSizeLimit": self.shared.ignore_data_size_limit,
        });
        let people = for_people(self.shared.json);
        let source = Source::of(&self.execution);
        if let (Source::Id, false) = (&source, people) {
            return print(&call(&get_execution::TOOL, options, given).await?);
        }
        let summary = match source {
            Source::Id => {
                let request = get_execution::request(&self.execution, self.shared.ignore_data_size_limit);
                let context = context(options)?;
                let (progress, bar) = progress::bar();
                let read = context.n8n.read_execution(&request, &progress, summary::read);
                bar.around(read).await.map_err(tools::Error::from)?.map_err(tools::Error::from)?
            }
            source => {
                budget::preload();
                let pruner = Pruner::new(summary::KEEP, 0..0);
                summary::read(Cursor::over(Batches::new(source.open()?, pruner))).map_err(tools::Error::from)?
            }
        };
        if people {
            return print(&render::summary(&summary));
        }
        print(&get_execution::answer(&summary, None, self.offset.unwrap_or(0), options.locale))
    }
}

impl Node {
    async fn run(self, options: &Options) -> Result<(), Error> {
        let source = Source::of(&self.execution);
        let mut given = json!({
            "id": self.execution,
            "nodeName": self.node,
            "runIndex": self.run_index,
            "outputIndex": self.output_index,
            "offset": self.offset,
            "limit": self.limit,
            "maxTokens": self.max_tokens,
            "ignoreDataSizeLimit": self.shared.ignore_data_size_limit,
        });
        let answer = if matches!(source, Source::Id) {
            call(&get_execution_by_node::TOOL, options, given).await?
        } else {
            // A file has no id to check.
            given["id"] = "0".into();
            let arguments = Arguments::check(get_execution_by_node::TOOL.parameters, &[], arguments(given))?;
            read_node(&source, &Question::new(&arguments, options.redact, options.locale))?
        };
        if for_people(self.shared.json) {
            return print(&render::node(&answer));
        }
        print(&answer)
    }
}

/// Reads a node from a file; from standard input in one pass, since there is no second.
fn read_node(source: &Source, question: &Question) -> Result<String, Error> {
    budget::preload();
    let read = |request: &node::Request| {
        let pruner = Pruner::new(node::KEEP, request.window.clone());
        let batches = Batches::new(source.open()?, pruner);
        Ok::<_, Error>(node::read(Cursor::over(batches), request).map_err(tools::Error::from)?)
    };
    let mut view = read(&question.request)?;
    if let Some(request) = get_execution_by_node::again(&view, question) {
        if matches!(source, Source::StandardInput) {
            return Err(Error::Input(
                "The input of this node stands too far before it to be found in one pass. Save the body to a file and name that.".to_owned(),
            ));
        }
        view = read(&request)?;
    }
    Ok(get_execution_by_node::answer(&view, None, question)?)
}

impl List {
    async fn run(self, options: &Options) -> Result<(), Error> {
        let given = json!({
            "workflowId": self.workflow_id,
            "status": self.status,
            "limit": self.limit,
            "cursor": self.cursor,
            "startedAfter": self.started_after,
            "startedBefore": self.started_before,
            "raw": self.raw,
            "maxTokens": self.max_tokens,
        });
        let answer = list_executions::TOOL.run(context(options)?, arguments(given), Progress::default()).await?;
        if for_people(self.json) && !self.raw {
            return print(&render::list(&answer));
        }
        print(&answer)
    }
}
