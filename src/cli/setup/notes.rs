//! Notes for the user about the entry.

use super::client::{Client, Reference};
use super::entry::{Key, Server};
use super::file::ClientFile;
use super::{Error, shown_path, terminal};

/// Prints what the user must do or know, one note per line; nothing about a server that is removed.
pub(super) fn print(client: Client, server: Option<&Server>, file: &ClientFile, is_shared: bool) -> Result<(), Error> {
    let Some(server) = server else { return Ok(()) };
    let mut notes = about_secrets(client, server, file);
    notes.extend(about_trust(client, is_shared).map(str::to_owned));
    if is_shared {
        notes.extend(about_path(server));
    }
    notes.iter().try_for_each(|note| terminal::print(note))
}

fn about_secrets(client: Client, server: &Server, file: &ClientFile) -> Vec<String> {
    let label = client.label();
    match server {
        Server::Stdio { key: Key::Plain(_), .. } => {
            let path = shown_path(file.path());
            let mut notes = vec![format!(
                "{label} does not expand variables, so that the API key stands in {path}. To keep it out, use --api-key-file with a file that only you can read, or install the bundle (docs/clients.md), which uses the system's keychain."
            )];
            notes.extend(file.others_can_read().then(|| format!("Others can read {path}: chmod 600 protects it.")));
            notes
        }
        Server::Stdio { key: Key::Referred, .. } => match client.reference() {
            Reference::Prompt => vec![format!("{label} asks for the API key once, and stores it securely.")],
            _ => vec![format!(
                "The API key is not in the file: set N8N_API_KEY in the environment that {label} is started from. An app started from the desktop does not see what a shell exports; --api-key-file works there."
            )],
        },
        Server::Stdio { key: Key::File(_), .. } => Vec::new(),
        Server::Http { has_token: false, .. } => {
            vec!["If the server requires a token, set N8N_LENS_AUTH_TOKEN and run this again.".to_owned()]
        }
        Server::Http { .. } if client.reference() == Reference::Prompt => {
            vec![format!("{label} asks for the token once, and stores it securely.")]
        }
        Server::Http { .. } => vec![format!(
            "The token is not in the file: set N8N_LENS_AUTH_TOKEN in the environment that {label} is started from."
        )],
    }
}

/// A note about the trust that a client requires before it starts servers.
fn about_trust(client: Client, is_shared: bool) -> Option<&'static str> {
    match client {
        Client::Gemini => Some("Gemini CLI starts servers only in folders that you have trusted in it."),
        Client::Codex if is_shared => Some("Codex reads the file only once you have trusted the folder in it."),
        Client::ClaudeCode if is_shared => Some("Claude Code asks before it uses a server of a project."),
        _ => None,
    }
}

/// A note about paths that are wrong on other machines.
fn about_path(server: &Server) -> Option<String> {
    match server {
        Server::Stdio { launch, .. } if launch.arguments.is_empty() => Some(format!(
            "The file contains a path of this machine, {}: others who share the project need n8n-lens at the same place.",
            terminal::plain(&launch.command)
        )),
        _ => None,
    }
}
