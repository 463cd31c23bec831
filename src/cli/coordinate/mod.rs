//! `n8n-lens coordinate`: the server, the administrator's commands, and what people look at.

mod admin;
mod view;

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::{Error, for_people, is_read, print};
use crate::config::{CoordinationOptions, Options, Transport};
use crate::coordination::Coordinator;
use crate::transport::{self, Offer};

/// Coordinate agents.
#[derive(Args)]
pub(super) struct Coordinate {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    options: CoordinationOptions,

    /// Print JSON on a terminal, too
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Manage projects, agents, passkeys, tasks, sessions and tokens
    #[command(subcommand)]
    Admin(admin::Admin),
    /// Show projects, agents, tasks and the last executions
    Status,
    /// Show them again and again
    Watch {
        /// Seconds between two looks
        #[arg(long, default_value_t = 2, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
        interval: u64,
    },
}

impl Coordinate {
    /// Whether it serves many clients.
    pub(super) fn is_for_many(&self) -> bool {
        self.command.is_none() && self.options.transport == Transport::Http
    }

    pub(super) async fn run(self, options: &Options) -> Result<(), Error> {
        let makes = match &self.command {
            None => true,
            Some(Command::Admin(command)) => command.makes_rows(),
            Some(Command::Status | Command::Watch { .. }) => false,
        };
        let settings = self.options.settings(options, makes)?;
        let coordinator = Coordinator::open(&settings).await.map_err(failed)?;
        match self.command {
            None => {
                let CoordinationOptions { hide_deprecated, admin_tools, port, .. } = self.options;
                let offer = Offer { coordinator, hide_deprecated, admin_tools };
                match self.options.transport {
                    Transport::Stdio => transport::serve_coordination_stdio(offer).await,
                    Transport::Http => {
                        let address = (self.options.bare_host(), port);
                        transport::serve_coordination_http(offer, address, &self.options.access()).await
                    }
                }
                .map_err(Error::Transport)
            }
            Some(Command::Admin(command)) => command.run(&coordinator, self.json).await,
            Some(Command::Status) => show(&coordinator, self.json).await.map(drop),
            Some(Command::Watch { interval }) => loop {
                if for_people(self.json) {
                    // The whole screen, from its beginning.
                    print("\u{1b}[2J\u{1b}[H")?;
                }
                if !show(&coordinator, self.json).await? {
                    return Ok(());
                }
                tokio::time::sleep(Duration::from_secs(interval)).await;
            },
        }
    }
}

/// Whether anybody was there to read it.
async fn show(coordinator: &Coordinator, json: bool) -> Result<bool, Error> {
    let status = coordinator.status().await.map_err(failed)?;
    match for_people(json) {
        true => is_read(&view::status(&status)),
        false => is_read(&serde_json::to_string(&status).unwrap_or_default()),
    }
}

/// JSON: in a line when piped, else as people read it.
fn print_json(value: &Value, json: bool) -> Result<(), Error> {
    match for_people(json) {
        true => print(&serde_json::to_string_pretty(value).unwrap_or_default()),
        false => print(&value.to_string()),
    }
}

fn failed(error: crate::coordination::Error) -> Error {
    Error::Input(error.to_string())
}
