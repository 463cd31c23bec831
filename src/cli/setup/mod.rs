//! `n8n-lens setup`: adds n8n-lens to a client's file.
//!
//! Some clients have a command for this. It is not used: the client need not be installed, `codex mcp add` and
//! `code --add-mcp` cannot keep the key out of the file, and none previews or undoes its change.

mod client;
mod diff;
mod document;
mod entry;
mod fault;
mod file;
mod json;
mod launch;
mod notes;
#[cfg(feature = "gateway")]
mod remote;
mod skill;
mod toml;

use std::path::{Path, PathBuf};

use clap::Args;
use hyper::Uri;

use self::client::{Client, Reference};
use self::diff::VisibleTexts;
use self::entry::{Key, Server};
use self::fault::Fault;
use self::file::ClientFile;
use self::launch::Launch;
use super::terminal::{plain, print, report};
use super::{Error, check, terminal};
use crate::config::{Api, Language, Sources};

/// Arguments of `setup`.
#[derive(Args)]
pub(super) struct Setup {
    /// The client
    client: Client,

    /// Change the file; without this, only show what would change
    #[arg(long)]
    write: bool,

    /// Remove n8n-lens from the file
    #[arg(long, conflicts_with = "http")]
    remove: bool,

    /// Use the file of the project in the working directory instead of the user's
    #[arg(long)]
    project: bool,

    /// Write, or with --remove delete, the skill instead: how an agent gets from a question to a proven fix
    #[arg(long, conflicts_with = "http")]
    skill: bool,

    /// Connect to an n8n-lens that serves HTTP at this address, such as http://127.0.0.1:3000/mcp
    #[arg(long, value_name = "URL")]
    http: Option<String>,

    #[command(flatten)]
    api: Api,

    #[command(flatten)]
    language: Language,
}

impl Setup {
    /// Shows or makes the change. The written file stays, and the command succeeds, even if the check afterwards
    /// fails.
    pub(super) async fn run(self) -> Result<(), Error> {
        if self.skill {
            return skill::run(self.client, self.remove, self.project, self.write);
        }
        let sources = Sources::api(self.api.clone());
        let server = if self.remove { None } else { Some(self.server(&sources)?) };
        let path = self.path()?;
        let project = self.project.then(working_directory).transpose()?;
        let file = ClientFile::read(&path, project.as_deref()).map_err(Error::Input)?;
        let (new, shown) = self.changed(&file, server.as_ref())?;
        if file.content().unwrap_or_default() == new {
            return print(&self.nothing_to_do(&file));
        }
        if !self.write {
            print(&self.preview(&file, &new, &shown))?;
            notes::print(self.client, server.as_ref(), &file, self.project)?;
            return print("Nothing was changed. To do it, add --write.");
        }
        let copy = file.replace(&new, self.project).map_err(Error::Input)?;
        print(&self.written(&file, copy.as_deref()))?;
        notes::print(self.client, server.as_ref(), &file, self.project)?;
        if let Some(server) = server {
            check_connection(&server, &file, &sources).await;
        }
        Ok(())
    }

    /// How the client will connect.
    fn server(&self, sources: &Sources) -> Result<Server, Error> {
        if let Some(url) = &self.http {
            return self.remote(url);
        }
        let settings = sources.n8n_without_key()?;
        if settings.address.has_credentials() {
            let message = "N8N_URL contains a user name or a password, which would stand in the client's file. Set it to an address without them.";
            return Err(Error::Usage(message.to_owned()));
        }
        let key = match (self.api.readable_key_file()?, self.client.reference()) {
            (Some(file), _) => Key::File(absolute(file)?),
            (None, Reference::None) => {
                let key = sources.n8n()?.api_key;
                Key::Plain(key.map(|key| key.expose().to_owned()).unwrap_or_default())
            }
            (None, _) => Key::Referred,
        };
        let locale = self.language.given().unwrap_or_else(launch::locale_of_user);
        Ok(Server::Stdio {
            launch: Launch::of_this_process().map_err(Error::Input)?,
            n8n_url: self.api.url().unwrap_or_default().to_owned(),
            key,
            locale: locale.choose("ja", "en"),
        })
    }

    /// How the client will connect over HTTP.
    fn remote(&self, url: &str) -> Result<Server, Error> {
        if self.client == Client::ClaudeDesktop {
            let message = "Claude Desktop does not connect to HTTP servers that its file names. Leave out --http, so that it starts n8n-lens itself.";
            return Err(Error::Usage(message.to_owned()));
        }
        if !is_plain_address(url) {
            let message =
                "--http needs an address without a user name and a password, such as http://127.0.0.1:3000/mcp.";
            return Err(Error::Usage(message.to_owned()));
        }
        Ok(Server::Http { url: url.to_owned(), has_token: launch::has_token() })
    }

    /// The client's file.
    fn path(&self) -> Result<PathBuf, Error> {
        let label = self.client.label();
        if !self.project {
            let missing =
                || Error::Input(format!("Your home folder is unknown, and so is the file of {label}. Set HOME."));
            return self.client.user_file().ok_or_else(missing);
        }
        let file = self.client.project_file().ok_or_else(|| {
            Error::Usage(format!("{label} has no file for projects. Leave out --project, to use the user's."))
        })?;
        Ok(working_directory()?.join(file))
    }

    /// The content of the file after the change, and the texts in it that may be shown.
    fn changed(&self, file: &ClientFile, server: Option<&Server>) -> Result<(String, VisibleTexts), Error> {
        let (text, format) = (file.content().unwrap_or_default(), self.client.format());
        let unusable = |fault: Fault| Error::Input(file.unusable(&fault));
        let unfit = |why: String| unusable(Fault::Unfit(why));
        let present = document::value(text, format).map_err(unusable)?;
        let (wanted, shown) = match server {
            None => (entry::removed(&present, self.client).map_err(unfit)?, VisibleTexts::default()),
            Some(server) => {
                let wanted = entry::added(&present, self.client, server).map_err(unfit)?;
                (wanted, VisibleTexts::of(&entry::members(self.client, server)))
            }
        };
        Ok((document::with_value(text, format, &present, &wanted).map_err(unusable)?, shown))
    }

    fn nothing_to_do(&self, file: &ClientFile) -> String {
        let path = shown_path(file.path());
        match self.remove {
            true => format!("{path} does not contain n8n-lens. Nothing was changed."),
            false => format!("{path} already contains n8n-lens, with these settings. Nothing was changed."),
        }
    }

    /// The change.
    fn preview(&self, file: &ClientFile, new: &str, shown: &VisibleTexts) -> String {
        let path = shown_path(file.path());
        let verb = if file.content().is_some() { "change" } else { "create" };
        let difference = diff::unified(&path, file.content(), new, self.client.format(), shown);
        format!("Would {verb} {path}:\n\n{difference}\n")
    }

    /// The report of the change.
    fn written(&self, file: &ClientFile, copy: Option<&Path>) -> String {
        let (path, label) = (shown_path(file.path()), self.client.label());
        let done = match (self.remove, copy) {
            (true, _) => format!("Removed n8n-lens from {path}."),
            (false, Some(_)) => format!("Changed {path}."),
            (false, None) => format!("Created {path}."),
        };
        let copy = copy.map(|copy| format!(" The old file is {}.", shown_path(copy))).unwrap_or_default();
        format!("{done}{copy} Restart {label} to apply this.")
    }
}

/// Checks the connection that the client will use. A failure is reported, but the file stays written.
async fn check_connection(server: &Server, file: &ClientFile, sources: &Sources) {
    let checked = match server {
        #[cfg(feature = "gateway")]
        Server::Http { url, has_token } => remote::check(url, *has_token).await,
        #[cfg(not(feature = "gateway"))]
        Server::Http { .. } => Ok(()),
        Server::Stdio { .. } => check::check_api(sources).await,
    };
    if let Err(error) = checked {
        report(&format!("{} is written, but the check failed: {error}", shown_path(file.path())));
    }
}

/// The folder of the project.
fn working_directory() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(|error| Error::Input(format!("The working directory cannot be used: {error}.")))
}

/// A path as a part of a line.
fn shown_path(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// Whether a text is an HTTP address without a user name.
fn is_plain_address(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|uri| {
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        is_http
            && uri
                .authority()
                .is_some_and(|authority| !authority.host().is_empty() && !authority.as_str().contains('@'))
    })
}

/// A path that is valid from every working directory.
fn absolute(path: &Path) -> Result<String, Error> {
    let absolute = std::path::absolute(path).ok().and_then(|path| path.to_str().map(str::to_owned));
    absolute
        .ok_or_else(|| Error::Usage("The path of the file with the API key is not UTF-8. Rename the file.".to_owned()))
}
