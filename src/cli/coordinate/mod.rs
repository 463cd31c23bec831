//! `n8n-lens coordinate`: the coordination server, administration commands, and the status for people.

mod admin;
mod view;

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::Error;
use super::terminal::{clear, for_people, introduce, print_json, print_styled};
use crate::config::{CoordinationOptions, Transport};
use crate::coordination::Coordinator;
use crate::transport::{self, CoordinationService};

/// Coordinate agents.
#[derive(Args)]
pub(super) struct Coordinate {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    options: CoordinationOptions,

    /// Print JSON even to a terminal
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Manage projects, agents, passkeys, tasks, sessions and tokens
    #[command(subcommand)]
    Admin(admin::Admin),
    /// Show projects, agents, tasks and the latest executions
    Status,
    /// Show the status repeatedly
    Watch {
        /// Seconds between updates
        #[arg(long, default_value_t = 2, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
        interval: u64,
    },
}

impl Coordinate {
    /// Whether it can serve several clients at once.
    pub(super) fn is_for_many(&self) -> bool {
        self.command.is_none() && self.options.transport == Transport::Http
    }

    pub(super) async fn run(self) -> Result<(), Error> {
        let create = match &self.command {
            None => true,
            Some(Command::Admin(command)) => command.can_create_database(),
            Some(Command::Status | Command::Watch { .. }) => false,
        };
        if self.command.is_none() && self.options.transport == Transport::Stdio {
            introduce("n8n-lens coordinate");
        }
        let settings = self.options.settings(create)?;
        let coordinator = Coordinator::open(&settings).await.map_err(failed)?;
        match self.command {
            None => {
                let CoordinationOptions { hide_deprecated, runner_tools, admin_tools, port, .. } = self.options;
                let service = CoordinationService { coordinator, hide_deprecated, runner_tools, admin_tools };
                match self.options.transport {
                    Transport::Stdio => transport::serve_coordination_stdio(service).await,
                    Transport::Http => {
                        let address = (self.options.bare_host(), port);
                        transport::serve_coordination_http(service, address, &self.options.access()).await
                    }
                }
                .map_err(Error::Transport)
            }
            Some(Command::Admin(command)) => command.run(&coordinator, self.json).await,
            Some(Command::Status) => show(&coordinator, self.json).await.map(drop),
            Some(Command::Watch { interval }) => loop {
                if for_people(self.json) {
                    clear()?;
                }
                if !show(&coordinator, self.json).await? {
                    return Ok(());
                }
                tokio::time::sleep(Duration::from_secs(interval)).await;
            },
        }
    }
}

/// Prints the status; returns whether standard output is still open.
async fn show(coordinator: &Coordinator, json: bool) -> Result<bool, Error> {
    let status = coordinator.status().await.map_err(failed)?;
    match for_people(json) {
        true => print_styled(&view::status(&status)),
        false => print_json(&serde_json::to_string(&status).unwrap_or_default()),
    }
}

/// Prints JSON, indented for people and on one line otherwise.
fn print_value(value: &Value, json: bool) -> Result<(), Error> {
    let text = match for_people(json) {
        true => serde_json::to_string_pretty(value).unwrap_or_default(),
        false => value.to_string(),
    };
    print_json(&text).map(drop)
}

fn failed(error: crate::coordination::Error) -> Error {
    Error::Input(error.to_string())
}
