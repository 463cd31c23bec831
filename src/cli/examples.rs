//! The examples at the end of each help.

use super::commands::COMMANDS;

/// The examples of each command that is not made from a tool, by its path.
pub(super) const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "n8n-lens list --status error",
            "n8n-lens summary 1234",
            "n8n-lens node 1234 'HTTP Request'",
            "n8n-lens serve --transport http --port 3000",
        ],
    ),
    (
        "view",
        &[
            "n8n-lens view",
            "n8n-lens view 1234",
            "n8n-lens view failed.json.gz",
            "n8n-lens view 1234 --store ~/.n8n --no-open",
        ],
    ),
    (
        "serve",
        &[
            "n8n-lens serve --read-only",
            "n8n-lens serve --toolsets executions,workflows,builder",
            "n8n-lens serve --transport http --port 3000",
        ],
    ),
    ("gateway", &["n8n-lens gateway --config config.yaml", "n8n-lens gateway --port 0"]),
    ("coordinate", &["n8n-lens coordinate --db agents.db", "n8n-lens coordinate --db agents.db --transport http"]),
    ("coordinate status", &["n8n-lens coordinate --db agents.db status"]),
    ("coordinate watch", &["n8n-lens coordinate --db agents.db watch --interval 5"]),
    (
        "coordinate admin",
        &[
            "n8n-lens coordinate --db agents.db admin project list",
            "n8n-lens coordinate --db agents.db admin import team.json",
        ],
    ),
    ("coordinate admin project", &["n8n-lens coordinate --db agents.db admin project list"]),
    (
        "coordinate admin project add",
        &["n8n-lens coordinate --db agents.db admin project add --name Shop --working-directory /srv/shop"],
    ),
    ("coordinate admin project list", &["n8n-lens coordinate --db agents.db admin project list"]),
    (
        "coordinate admin project set-status",
        &["n8n-lens coordinate --db agents.db admin project set-status prj_a archived"],
    ),
    ("coordinate admin agent", &["n8n-lens coordinate --db agents.db admin agent list"]),
    ("coordinate admin agent add", &["n8n-lens coordinate --db agents.db admin agent add --name Ada --role developer"]),
    ("coordinate admin agent list", &["n8n-lens coordinate --db agents.db admin agent list"]),
    (
        "coordinate admin agent set-status",
        &["n8n-lens coordinate --db agents.db admin agent set-status agt_a inactive"],
    ),
    ("coordinate admin assign", &["n8n-lens coordinate --db agents.db admin assign --project prj_a --agent agt_a"]),
    ("coordinate admin unassign", &["n8n-lens coordinate --db agents.db admin unassign --project prj_a --agent agt_a"]),
    ("coordinate admin passkey", &["n8n-lens coordinate --db agents.db admin passkey issue --agent agt_a"]),
    ("coordinate admin passkey issue", &["n8n-lens coordinate --db agents.db admin passkey issue --agent agt_a"]),
    (
        "coordinate admin passkey rotate",
        &["n8n-lens coordinate --db agents.db admin passkey rotate --agent agt_a --stdin < passkey.txt"],
    ),
    ("coordinate admin passkey revoke", &["n8n-lens coordinate --db agents.db admin passkey revoke --agent agt_a"]),
    ("coordinate admin task", &["n8n-lens coordinate --db agents.db admin task list --project prj_a"]),
    (
        "coordinate admin task add",
        &[
            "n8n-lens coordinate --db agents.db admin task add --project prj_a --title 'Build the login' --assignee agt_a",
        ],
    ),
    ("coordinate admin task list", &["n8n-lens coordinate --db agents.db admin task list --project prj_a"]),
    ("coordinate admin task set-status", &["n8n-lens coordinate --db agents.db admin task set-status tsk_a todo"]),
    ("coordinate admin session", &["n8n-lens coordinate --db agents.db admin session list"]),
    ("coordinate admin session list", &["n8n-lens coordinate --db agents.db admin session list"]),
    (
        "coordinate admin session revoke",
        &["n8n-lens coordinate --db agents.db admin session revoke --project prj_a --agent agt_a"],
    ),
    ("coordinate admin token", &["n8n-lens coordinate --db agents.db admin token issue --scope runner"]),
    (
        "coordinate admin token issue",
        &["n8n-lens coordinate --db agents.db admin token issue --scope agent --agent agt_a"],
    ),
    ("coordinate admin token list", &["n8n-lens coordinate --db agents.db admin token list"]),
    ("coordinate admin token revoke", &["n8n-lens coordinate --db agents.db admin token revoke tok_a"]),
    ("coordinate admin import", &["n8n-lens coordinate --db agents.db admin import team.json"]),
    ("coordinate admin backup", &["n8n-lens coordinate --db agents.db admin backup copy.db"]),
    ("coordinate admin doctor", &["n8n-lens coordinate --db agents.db admin doctor"]),
    (
        "setup",
        &[
            "n8n-lens setup cursor",
            "n8n-lens setup claude-code --write",
            "n8n-lens setup claude-desktop --api-key-file key.txt --write",
            "n8n-lens setup vscode --project --http http://127.0.0.1:3000/mcp",
            "n8n-lens setup codex --remove --write",
        ],
    ),
    (
        "check",
        &[
            "n8n-lens check",
            "n8n-lens check --store auto",
            "n8n-lens check --n8n-url https://n8n.example.com --api-key-file key.txt",
        ],
    ),
    (
        "export",
        &[
            "n8n-lens export --rows runs --store ~/.n8n > runs.ndjson",
            "n8n-lens export --rows executions --store ~/.n8n --status error --after 5986",
            "n8n-lens export --format otlp --store ~/.n8n --to http://127.0.0.1:4318/v1/traces",
        ],
    ),
    ("cache", &["n8n-lens cache --cache auto", "n8n-lens cache --cache auto clear"]),
    ("cache clear", &["n8n-lens cache --cache auto clear"]),
    ("tools", &["n8n-lens tools --read-only", "n8n-lens tools --toolsets builder --json"]),
    ("catalogue", &["n8n-lens catalogue update"]),
    ("catalogue update", &["n8n-lens catalogue update", "n8n-lens catalogue update --from /usr/lib/node_modules/n8n"]),
    ("completions", &["n8n-lens completions bash > ~/.local/share/bash-completion/completions/n8n-lens"]),
];

/// The examples of the command with this path, such as `coordinate status`.
pub(super) fn of(path: &str) -> &'static [&'static str] {
    let of_tool = COMMANDS.iter().find(|command| command.name == path).map(|command| command.examples);
    of_tool.or(EXAMPLES.iter().find(|(of, _)| *of == path).map(|(_, examples)| *examples)).unwrap_or_default()
}
