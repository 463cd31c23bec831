//! The clients: their files, and how they represent a server.

use std::env;
use std::path::PathBuf;

use clap::ValueEnum;

/// An MCP client that reads its servers from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Code
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// VS Code
    #[value(name = "vscode")]
    VsCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Devin Desktop (Windsurf)
    Devin,
}

/// The language of a client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON as defined by RFC 8259.
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    /// TOML.
    Toml,
}

/// How a client's file refers to a secret instead of containing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// A variable of its environment, between these two texts.
    Variable(&'static str, &'static str),
    /// The name of an environment variable, in a member of its own.
    VariableName,
    /// It prompts for the secret, and stores it.
    Prompt,
    /// Not possible: secrets are in the client's file.
    None,
}

impl Client {
    /// The client's name in its own spelling.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Devin => "Devin Desktop",
        }
    }

    /// The member of its file that contains its servers.
    pub(super) fn servers(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Codex => "mcp_servers",
            _ => "mcpServers",
        }
    }

    pub(super) fn format(self) -> Format {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop => Format::Json,
            Self::Codex => Format::Toml,
            Self::Cursor | Self::VsCode | Self::Gemini | Self::Devin => Format::Jsonc,
        }
    }

    pub(super) fn reference(self) -> Reference {
        match self {
            Self::ClaudeCode | Self::Gemini => Reference::Variable("${", "}"),
            Self::Cursor | Self::Devin => Reference::Variable("${env:", "}"),
            Self::VsCode => Reference::Prompt,
            Self::Codex => Reference::VariableName,
            Self::ClaudeDesktop => Reference::None,
        }
    }

    /// The user's file; `None` on a system without a home folder.
    pub(super) fn user_file(self) -> Option<PathBuf> {
        // Graphical applications keep their settings in the system's configuration folder.
        let settings = dirs::config_dir();
        match self {
            Self::ClaudeCode => Some(folder_of("CLAUDE_CONFIG_DIR").or_else(dirs::home_dir)?.join(".claude.json")),
            Self::ClaudeDesktop => Some(settings?.join("Claude").join("claude_desktop_config.json")),
            Self::Cursor => Some(dirs::home_dir()?.join(".cursor").join("mcp.json")),
            Self::VsCode => Some(settings?.join("Code").join("User").join("mcp.json")),
            Self::Codex => {
                let folder = folder_of("CODEX_HOME").or_else(|| Some(dirs::home_dir()?.join(".codex")));
                Some(folder?.join("config.toml"))
            }
            Self::Gemini => {
                let home = folder_of("GEMINI_CLI_HOME").or_else(dirs::home_dir)?;
                Some(home.join(".gemini").join("settings.json"))
            }
            // Devin also uses ~/.config on macOS.
            Self::Devin if cfg!(target_os = "macos") => Some(dirs::home_dir()?.join(".config/devin/mcp_config.json")),
            Self::Devin => Some(settings?.join("devin").join("mcp_config.json")),
        }
    }

    /// The file of a project, below its folder; `None` if the client has no such file.
    pub(super) fn project_file(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some(".mcp.json"),
            Self::Cursor => Some(".cursor/mcp.json"),
            Self::VsCode => Some(".vscode/mcp.json"),
            Self::Codex => Some(".codex/config.toml"),
            Self::Gemini => Some(".gemini/settings.json"),
            Self::ClaudeDesktop | Self::Devin => None,
        }
    }
}

/// Where a client reads skills: folders, below the user's home folder and below that of a project. Sources: the page about
/// skills in the documentation of each client, November 2026.
impl Client {
    /// The user's folder; `None` if the client reads no such folder, or on a system without a home folder.
    pub(super) fn user_skills(self) -> Option<PathBuf> {
        let folder = match self {
            Self::ClaudeCode => {
                folder_of("CLAUDE_CONFIG_DIR").or_else(|| Some(dirs::home_dir()?.join(".claude")))?.join("skills")
            }
            Self::Cursor => dirs::home_dir()?.join(".cursor/skills"),
            Self::VsCode => dirs::home_dir()?.join(".copilot/skills"),
            Self::Codex => dirs::home_dir()?.join(".agents/skills"),
            Self::Gemini => folder_of("GEMINI_CLI_HOME").or_else(dirs::home_dir)?.join(".gemini/skills"),
            Self::Devin => dirs::home_dir()?.join(".codeium/windsurf/skills"),
            Self::ClaudeDesktop => return None,
        };
        Some(folder)
    }

    /// The folder of a project, below the project's.
    pub(super) fn project_skills(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some(".claude/skills"),
            Self::Cursor => Some(".cursor/skills"),
            Self::VsCode => Some(".github/skills"),
            Self::Codex => Some(".agents/skills"),
            Self::Gemini => Some(".gemini/skills"),
            Self::Devin => Some(".windsurf/skills"),
            Self::ClaudeDesktop => None,
        }
    }
}

/// The folder in an environment variable.
fn folder_of(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}
