//! `n8n-lens setup --skill`: a file that clients read, about how an agent gets from a question to a proven fix.

use super::client::Client;
use super::file::ClientFile;
use super::{Error, diff, print, shown_path, working_directory};

/// The file, in the format of agentskills.io.
const TEXT: &str = include_str!("SKILL.md");

/// Its place below the folder of all skills. The folder has the name of the skill.
const FILE: &str = "n8n-lens/SKILL.md";

/// Shows or makes the change.
pub(super) fn run(client: Client, removes: bool, of_project: bool, writes: bool) -> Result<(), Error> {
    let project = of_project.then(working_directory).transpose()?;
    let folder = match &project {
        Some(project) => client.project_skills().map(|folder| project.join(folder)),
        None => client.user_skills(),
    };
    let folder = folder.ok_or_else(|| Error::Usage(without_folder(client)))?;
    let file = ClientFile::read(&folder.join(FILE), project.as_deref()).map_err(Error::Input)?;
    let (path, label) = (shown_path(file.path()), client.label());
    match (file.content(), removes) {
        (None, true) => print(&format!("{path} does not exist. Nothing was changed.")),
        (Some(TEXT), false) => print(&format!("{path} already contains the skill. Nothing was changed.")),
        (content, _) if !writes => {
            let verb = if removes {
                "delete"
            } else if content.is_some() {
                "change"
            } else {
                "create"
            };
            let difference = diff::of_texts(&path, content, (!removes).then_some(TEXT));
            print(&format!("Would {verb} {path}:\n\n{difference}\n"))?;
            print("Nothing was changed. To do it, add --write.")
        }
        (content, _) => {
            let done = if removes {
                "Deleted"
            } else if content.is_some() {
                "Changed"
            } else {
                "Created"
            };
            // A copy keeps changes that a person made to it.
            let copy = match removes {
                true => file.delete(content != Some(TEXT)),
                false => file.replace(TEXT, true),
            };
            let copy = copy.map_err(Error::Input)?;
            let copy = copy.map(|copy| format!(" The old file is {}.", shown_path(&copy))).unwrap_or_default();
            print(&format!("{done} {path}.{copy} Restart {label} to apply this."))
        }
    }
}

fn without_folder(client: Client) -> String {
    match client {
        Client::ClaudeDesktop => {
            "Claude Desktop reads no folder of skills: add the file in its settings, as docs/clients.md says."
                .to_owned()
        }
        _ => "Your home folder is unknown, and so is the folder of skills. Set HOME.".to_owned(),
    }
}
