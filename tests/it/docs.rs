//! The documentation agrees with the binary: its commands, options, defaults, links, tables and examples.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use base64::Engine;
use n8n_lens::tools::TOOLSETS;
use regex::Regex;
use serde_json::{Value, json};

use crate::server::{Reply, Server};

/// The longest README that is still read.
const README_LINES: usize = 180;

/// Options of other programs that the documentation mentions.
const FOREIGN_OPTIONS: [&str; 19] = [
    "--add-host",
    "--all",
    "--dry-run",
    "--env",
    "--file",
    "--generate-hashes",
    "--header",
    "--no-annotate",
    "--no-header",
    "--proto",
    "--python-version",
    "--repo",
    "--rm",
    "--sqlite",
    "--strict",
    "--tlsv",
    "--tmpfs",
    "--truth",
    "--universal",
];

/// Variables that packages set or read, which are not options.
const PACKAGE_VARIABLES: [&str; 2] = ["N8N_LENS_LAUNCHER", "N8N_LENS_LAUNCHER_PID"];

/// Variables of n8n itself, and of the tests, that the documentation mentions.
const OTHER_VARIABLES: [&str; 5] = ["N8N_EXECUTION", "N8N_PID", "N8N_STORAGE_PATH", "N8N_STORE", "N8N_USER_FOLDER"];

/// Code spans that begin like this are paths in the repository.
const OWN_FOLDERS: [&str; 7] = ["benches/", "docs/", "fixtures/", "fuzz/", "packaging/", "src/", "tests/"];

/// Where the packaging scripts put their output.
const MADE_FOLDERS: [&str; 2] = ["packaging/dist", "packaging/out"];

/// The headings above the commands in help.
const COMMAND_HEADINGS: [&str; 5] = ["Look at executions:", "Change and prove:", "Serve:", "Set up:", "Commands:"];

/// The headings above the options in help.
const OPTION_HEADINGS: [&str; 2] = ["Options:", "Connection to n8n:"];

/// The example of a tool to add.
const EXAMPLE: &str = "src/tools/workflows/get_tags.rs";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Every Markdown page, by its path.
static PAGES: LazyLock<BTreeMap<PathBuf, String>> = LazyLock::new(|| {
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| Path::new("docs").join(entry.unwrap().file_name()));
    let paths = ["README.md", "CHANGELOG.md"].into_iter().map(PathBuf::from).chain(docs);
    let pages = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.map(|path| (path.clone(), read(path))).collect()
});

fn page(path: &str) -> &'static str {
    &PAGES[Path::new(path)]
}

/// The lines of a page, each with the language of the code block that it is in.
fn lines(page: &str) -> impl Iterator<Item = (Option<&str>, &str)> {
    let mut language = None;
    page.lines().filter_map(move |line| match line.trim_start().strip_prefix("```") {
        Some(fence) => {
            language = language.is_none().then_some(fence);
            None
        }
        None => Some((language, line)),
    })
}

/// The code blocks of a page, with their languages.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap())
}

/// The block that contains `text`.
fn block<'a>(page: &'a str, text: &str) -> &'a str {
    let found = blocks(page).map(|(_, block)| block).find(|block| block.contains(text));
    found.unwrap_or_else(|| panic!("no code block contains {text:?}"))
}

/// The texts in backticks outside code blocks.
fn code_spans(page: &str) -> Vec<&str> {
    let prose = lines(page).filter(|(language, _)| language.is_none());
    prose.flat_map(|(_, line)| line.split('`').skip(1).step_by(2)).collect()
}

/// The commands that a page asks its reader to type: shell blocks, the prompts of console blocks, and code spans.
fn typed(page: &str) -> Vec<String> {
    let blocks = blocks(page).flat_map(|(language, text)| {
        let text = text.replace("\\\n", " ");
        let line = |line: &str| match language {
            "sh" => Some(line.trim().to_owned()),
            "console" => line.strip_prefix("$ ").map(str::to_owned),
            _ => None,
        };
        text.lines().filter_map(line).collect::<Vec<_>>()
    });
    blocks.chain(code_spans(page).into_iter().map(str::to_owned)).collect()
}

/// The simple commands of a shell line, as words.
fn shell_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![vec![]];
    let (mut word, mut quote): (Option<String>, _) = (None, None);
    for char in line.chars() {
        match (quote, char) {
            (Some(open), _) if open == char => quote = None,
            (None, '\'' | '"') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            // A file that is read or written begins a command that is not ours.
            (None, ' ' | '|' | ';' | '&' | '<' | '>') => {
                commands.last_mut().unwrap().extend(word.take());
                if char != ' ' {
                    commands.push(vec![]);
                }
            }
            _ => word.get_or_insert_default().push(char),
        }
    }
    commands.last_mut().unwrap().extend(word);
    let assignment = Regex::new("^[A-Z0-9_]+=").unwrap();
    commands.iter_mut().for_each(|words| {
        let first = words.iter().position(|word| !assignment.is_match(word)).unwrap_or(words.len());
        words.drain(..first);
    });
    commands.retain(|words| !words.is_empty());
    commands
}

/// One option, as `-h` shows it.
#[derive(Default)]
struct CliOption {
    takes_value: bool,
    default: Option<String>,
    variable: Option<String>,
}

/// One command of the binary.
struct CliCommand {
    subcommands: BTreeSet<String>,
    options: BTreeMap<String, CliOption>,
    has_arguments: bool,
}

/// Every command of the binary, by its path.
static COMMANDS: LazyLock<BTreeMap<Vec<String>, CliCommand>> = LazyLock::new(|| {
    let mut commands = BTreeMap::new();
    let mut paths = vec![Vec::new()];
    while let Some(path) = paths.pop() {
        let command = CliCommand::from_help(&run(path.iter().map(String::as_str).chain(["-h"])));
        paths.extend(command.subcommands.iter().map(|name| [path.as_slice(), std::slice::from_ref(name)].concat()));
        commands.insert(path, command);
    }
    commands
});

impl CliCommand {
    fn from_help(help: &str) -> Self {
        let first_word = |line: &str| line.split([' ', ',']).next().unwrap().to_owned();
        let subcommands = COMMAND_HEADINGS.iter().flat_map(|heading| section(help, heading)).map(first_word);
        let subcommands = subcommands.filter(|name| name != "help").collect();
        let note = |line: &str, name: &str| {
            let (_, rest) = line.split_once(&format!("[{name}: "))?;
            Some(rest.split([']', '=']).next().unwrap().to_owned())
        };
        let names = Regex::new(r"--[a-z][a-z0-9-]*").unwrap();
        let mut options = BTreeMap::new();
        for line in OPTION_HEADINGS.iter().flat_map(|heading| section(help, heading)) {
            let name = names.find(line).unwrap().as_str();
            for name in [Some(name.to_owned()), note(line, "alias")].into_iter().flatten() {
                let takes_value = line.contains(" <");
                let (default, variable) = (note(line, "default"), note(line, "env"));
                options.insert(name, CliOption { takes_value, default, variable });
            }
        }
        Self { subcommands, options, has_arguments: help.contains("\nArguments:") }
    }
}

/// The lines of one section of a help text.
fn section<'a>(help: &'a str, heading: &'static str) -> impl Iterator<Item = &'a str> {
    let lines = help.lines().skip_while(move |line| *line != heading).skip(1);
    lines.take_while(|line| !line.is_empty()).map(str::trim_start)
}

fn run<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    let output = Command::new(crate::support::binary()).args(arguments).env_clear().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Whether the binary has this command, with these options.
fn check_command(words: &[String]) -> Result<(), String> {
    let (mut path, mut words) = (Vec::new(), words.iter());
    while let Some(word) = words.next() {
        let command = &COMMANDS[&path];
        if word.starts_with("--") {
            // Without a command, or before it, n8n-lens accepts the options of serve.
            let serve = path.is_empty().then(|| &COMMANDS[&["serve".to_owned()][..]]);
            let name = word.split('=').next().unwrap();
            let option = [Some(command), serve].into_iter().flatten().find_map(|command| command.options.get(name));
            let option = option.ok_or_else(|| format!("'{}' has no option {word}", path.join(" ")))?;
            if option.takes_value && !word.contains('=') {
                words.next().ok_or_else(|| format!("{word} needs a value"))?;
            }
        } else if command.subcommands.contains(word) {
            path.push(word.clone());
        } else if !command.has_arguments {
            return Err(format!("'{}' has no subcommand {word}", path.join(" ")));
        }
    }
    Ok(())
}

/// Whether a `cargo` command names a target that exists, and a filter that selects a test.
fn check_cargo(words: &[String]) -> Result<(), String> {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["run", "--", ..] => {
            return check_command(&words[2..].iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        }
        ["test", "--test", ..] => {
            let named = words.windows(2).filter(|pair| pair[0] == "--test").map(|pair| pair[1]);
            let targets: Vec<_> = named.map(|target| (target, test_functions(target))).collect();
            if let Some((target, _)) = targets.iter().find(|(_, functions)| functions.is_empty()) {
                return Err(format!("there is no test target {target}"));
            }
            let is_target = |word: &str| targets.iter().any(|(target, _)| *target == word);
            for filter in words[1..].iter().filter(|word| !word.starts_with('-') && !is_target(word)) {
                if !targets.iter().flat_map(|(_, functions)| functions).any(|name| name.contains(filter)) {
                    return Err(format!("no test of {} matches {filter}", targets[0].0));
                }
            }
        }
        ["bench", "--bench", target] => exists(&format!("benches/{target}.rs"))?,
        ["+nightly", "fuzz", "run", target, ..] => exists(&format!("fuzz/fuzz_targets/{target}.rs"))?,
        _ => {}
    }
    Ok(())
}

/// The functions of a test target, as `module::function`.
fn test_functions(target: &str) -> Vec<String> {
    fn walk(path: &Path, module: &str, found: &mut Vec<String>) {
        if let Ok(entries) = std::fs::read_dir(path) {
            for path in entries.map(|entry| entry.unwrap().path()) {
                let name = path.file_stem().unwrap().to_str().unwrap();
                let module = if name == "mod" { module.to_owned() } else { format!("{module}{name}::") };
                walk(&path, &module, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let mut inline = String::new();
            for line in text.lines() {
                if let Some(name) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
                    inline = format!("{name}::");
                } else if line == "}" {
                    inline.clear();
                } else if let Some(name) = line.trim_start().trim_start_matches("pub ").strip_prefix("fn ") {
                    found.push(format!("{module}{inline}{}", name.split(['(', '<']).next().unwrap()));
                }
            }
        }
    }
    let (mut found, folder) = (Vec::new(), root().join("tests").join(target));
    walk(&if folder.is_dir() { folder } else { folder.with_extension("rs") }, "", &mut found);
    found
}

fn exists(path: &str) -> Result<(), String> {
    let is_made = MADE_FOLDERS.iter().any(|folder| path.starts_with(folder));
    let is_there = path == EXAMPLE || is_made || root().join(path).exists();
    is_there.then_some(()).ok_or_else(|| format!("there is no {path}"))
}

#[test]
fn the_readme_is_short() {
    let lines = page("README.md").lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines; move details to docs/");
}

#[test]
fn links_between_the_pages_resolve() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    for (path, text) in &*PAGES {
        for (_, line) in lines(text).filter(|(language, _)| language.is_none()) {
            for target in link.captures_iter(line).map(|found| found[1].to_owned()) {
                if target.contains("://") {
                    continue;
                }
                let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
                let file = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
                let linked = std::fs::read(root().join(&file));
                let linked = linked.unwrap_or_else(|_| panic!("{}: {target} does not exist", path.display()));
                // A picture has no headings.
                let text = String::from_utf8_lossy(&linked);
                let anchors: Vec<_> = lines(&text).filter_map(|(language, line)| anchor_of(language, line)).collect();
                assert!(anchor.is_empty() || anchors.iter().any(|name| name == anchor), "{}: {target}", path.display());
            }
        }
    }
}

/// The anchor of a heading, as GitHub makes it.
fn anchor_of(language: Option<&str>, line: &str) -> Option<String> {
    let heading =
        line.trim_start_matches('#').strip_prefix(' ').filter(|_| language.is_none() && line.starts_with('#'))?;
    let kept = heading.chars().filter(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_'));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}

#[test]
fn commands_in_the_pages_exist() {
    for (path, text) in &*PAGES {
        for line in typed(text) {
            for words in shell_commands(&line) {
                // The command for a client to start comes after a lone `--`.
                let own = words.windows(2).position(|pair| pair == ["--", "n8n-lens"]).map_or(0, |at| at + 1);
                let checked = match words[own].as_str() {
                    "n8n-lens" => check_command(&words[own + 1..]),
                    "cargo" => check_cargo(&words[1..]),
                    path if OWN_FOLDERS.iter().any(|folder| path.starts_with(folder)) => exists(path),
                    _ => Ok(()),
                };
                assert_eq!(checked, Ok(()), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn options_and_variables_in_the_pages_exist() {
    let options: BTreeSet<_> = COMMANDS.values().flat_map(|command| command.options.keys()).collect();
    let all = COMMANDS.values().flat_map(|command| command.options.values());
    let variables: BTreeSet<_> = all.filter_map(|option| option.variable.as_deref()).collect();
    let option = Regex::new(r"(?:^|[\s\[])(--[a-z][a-z-]+)").unwrap();
    let variable = Regex::new(r"\b(?:N8N_LENS|N8N|GATEWAY)_[A-Z_]+\b").unwrap();
    for (path, text) in &*PAGES {
        for span in code_spans(text).into_iter().filter(|span| !span.contains("cargo ")) {
            for found in option.captures_iter(span).map(|found| found[1].to_owned()) {
                let known = options.contains(&found) || FOREIGN_OPTIONS.contains(&found.as_str());
                assert!(known, "{}: there is no option {found}", path.display());
            }
        }
        for found in variable.find_iter(text).map(|found| found.as_str()) {
            let known =
                [&PACKAGE_VARIABLES[..], &OTHER_VARIABLES].concat().contains(&found) || variables.contains(found);
            assert!(known, "{}: no option reads {found}", path.display());
        }
    }
}

#[test]
fn administration_commands_exist() {
    let commands = &COMMANDS[&["coordinate".to_owned(), "admin".to_owned()][..]].subcommands;
    let mut documented = BTreeSet::new();
    for span in code_spans(page("docs/coordination.md")) {
        let words: Vec<_> = span.split_whitespace().map(|word| word.trim_matches(['[', ']', '…']).to_owned()).collect();
        if let Some(name) = words.first().filter(|name| commands.contains(*name)) {
            documented.insert(name.clone());
            let command =
                ["coordinate", "admin"].map(str::to_owned).into_iter().chain(words.clone()).collect::<Vec<_>>();
            assert_eq!(check_command(&command), Ok(()), "{span}");
        }
    }
    assert_eq!(&documented, commands);
}

#[test]
fn configuration_lists_every_option_with_its_variable_and_default() {
    let configuration = page("docs/configuration.md");
    for (path, command) in &*COMMANDS {
        for (name, option) in command.options.iter().filter(|(name, _)| *name != "--help" && *name != "--version") {
            let whole = format!("`{name}`");
            let mut said = [&option.variable, &option.default].into_iter().flatten();
            let listed = configuration
                .lines()
                .any(|line| line.contains(&whole) && said.clone().all(|what| line.contains(what.as_str())));
            let is_administration = path.get(1).is_some_and(|name| name == "admin");
            let elsewhere = is_administration && said.next().is_none() && page("docs/coordination.md").contains(name);
            assert!(
                listed || elsewhere,
                "list {name} of '{}' with its variable {:?} and its default {:?}",
                path.join(" "),
                option.variable,
                option.default
            );
        }
    }
}

/// The rows of a generated table of tools.
fn tool_rows(arguments: &[&str]) -> Vec<String> {
    run(["tools", "--markdown"].into_iter().chain(arguments.iter().copied()))
        .lines()
        .skip(2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn tool_lists_in_the_pages_are_the_generated_ones() {
    let default = run(["tools", "--markdown"]);
    assert!(page("README.md").contains(&default), "paste this table into README.md:\n{default}");
    let mut generated = BTreeSet::new();
    for toolset in TOOLSETS {
        let table = run(["tools", "--markdown", "--toolsets", toolset.name]);
        for row in tool_rows(&["--toolsets", toolset.name]) {
            let pages = PAGES.values().filter(|text| text.contains(&row)).count();
            assert_eq!(pages, 1, "one page of docs/ must have this table, next to its toolset:\n{table}");
            generated.insert(row);
        }
    }
    let row = Regex::new(r"^\| `\w+` \| \w+ \| (reads|adds|overwrites) \|").unwrap();
    for (path, text) in &*PAGES {
        for line in text.lines().filter(|line| row.is_match(line)) {
            assert!(generated.contains(line), "{}: this tool does not exist, or has changed:\n{line}", path.display());
        }
    }
}

#[test]
fn tool_lists_in_the_bundle_are_the_generated_ones() {
    let manifest: Value = serde_json::from_str(&read("packaging/mcpb/manifest.json")).unwrap();
    let entries = tool_rows(&[]).into_iter().map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(|cell| cell.trim_matches([' ', '`'])).collect();
        (cells[0].to_owned(), cells[3].to_owned())
    });
    let entries: Vec<_> = entries.collect();
    let entry = |(name, description): &(String, String)| {
        let (name, description) = (json!(name), json!(description));
        format!("    {{ \"name\": {name}, \"description\": {description} }}")
    };
    let paste = entries.iter().map(entry).collect::<Vec<_>>().join(",\n");
    let listed = manifest["tools"].as_array().unwrap().iter();
    let listed: Vec<_> = listed.map(|tool| (tool["name"].clone(), tool["description"].clone())).collect();
    let expected: Vec<_> = entries.iter().map(|(name, description)| (json!(name), json!(description))).collect();
    assert!(listed == expected, "paste this into the tools of packaging/mcpb/manifest.json:\n{paste}");
}

#[test]
fn client_blocks_are_valid_and_set_the_language() {
    let is_own = |command: &Value| command.as_str().is_some_and(|command| command.ends_with("n8n-lens"));
    for (path, text) in &*PAGES {
        for (language, block) in blocks(text) {
            if language == "json" {
                let config: Value = serde_json::from_str(block).unwrap_or_else(|why| panic!("{why}:\n{block}"));
                let servers = config.get("mcpServers").or(config.get("servers")).and_then(Value::as_object);
                for server in servers.into_iter().flat_map(|servers| servers.values()) {
                    let is_english = server["env"]["N8N_LENS_LOCALE"] == "en";
                    assert!(!is_own(&server["command"]) || is_english, "{}: {block}", path.display());
                }
            }
            if language == "toml" && block.contains("command = \"n8n-lens\"") {
                assert!(block.contains("N8N_LENS_LOCALE = \"en\""), "{}: {block}", path.display());
            }
            for line in block.lines().filter(|_| language == "sh") {
                let is_english = line.contains("--env N8N_LENS_LOCALE=en") || line.contains("--locale en");
                let starts_server = line.contains("-- n8n-lens") || line.contains(" --transport http --");
                assert!(!starts_server || is_english, "{}: {line}", path.display());
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_readme_shows_what_a_terminal_shows() {
    let block = block(page("README.md"), "$ n8n-lens summary");
    let (command, shown) = block.split_once('\n').unwrap();
    let mut binary = Command::new(crate::support::binary());
    binary.args(command.split(' ').skip(2)).current_dir(root());
    let printed = crate::pseudoterminal::plain(&binary, 120);
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(shown), trimmed(&printed));
}

#[test]
fn the_readme_shows_what_check_prints() {
    let n8n = Server::start(|request| match request.path.as_str() {
        "/" => {
            let config = base64::engine::general_purpose::STANDARD.encode(r#"{"release":"n8n@2.41.1"}"#);
            let page = format!("<meta name=\"n8n:config:sentry\" content=\"{config}\">");
            Reply::bytes(200, "text/html", page.into_bytes())
        }
        "/api/v1/discover" => {
            let kinds =
                [("execution", "list read"), ("workflow", "list read create update delete activate deactivate")];
            let scopes = kinds.map(|(kind, rights)| rights.split(' ').map(move |right| format!("{kind}:{right}")));
            let scopes: Vec<_> = scopes.into_iter().flatten().collect();
            Reply::json(200, json!({"data": {"scopes": scopes}}).to_string())
        }
        _ => Reply::json(200, r#"{"data":[],"nextCursor":null}"#),
    });
    let mut command = Command::new(crate::support::binary());
    let output = command.arg("check").env_clear().env("N8N_URL", n8n.url()).env("N8N_API_KEY", "key").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(page("README.md").contains(&printed), "paste this into README.md:\n{printed}");
}

/// Runs a script of the documentation in an empty home, with the binary in the path.
fn run_script(script: &str, home: &Path, variables: &[(&str, &str)]) -> String {
    let binaries = Path::new(crate::support::binary()).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([binaries].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-ec", script]).current_dir(home).env_clear().env("PATH", path).env("HOME", home);
    let output = bash.envs(variables.iter().copied()).stdin(Stdio::null()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// Only the lines after a prompt.
fn prompts(console: &str) -> String {
    console.lines().filter_map(|line| line.strip_prefix("$ ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_builder_page_builds_its_workflow() {
    let home = tempfile::tempdir().unwrap();
    let catalogue = home.path().join("catalogue.json");
    let catalogue = catalogue.to_str().unwrap();
    let packages = root().join("fixtures/catalogue");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let script = block(page("docs/builder.md"), "call workflow_create");
    // Verbatim, except for packages that are available here.
    let script = script
        .replace("catalogue update", &format!("catalogue update --from '{}'", packages.display()))
        .replace(":3000", &format!(":{port}"))
        .replace("--transport http", &format!("--transport http --port {port}"));
    let variables = [("N8N_URL", "http://127.0.0.1:9"), ("N8N_LENS_CATALOGUE", catalogue)];
    let said = run_script(&format!("trap 'kill $!' EXIT\n{script}"), home.path(), &variables);
    assert!(!said.contains("\"error\""), "{said}");
    let workflow: Value = serde_json::from_slice(&std::fs::read(home.path().join("Orders.json")).unwrap()).unwrap();
    let names: Vec<_> = workflow["nodes"].as_array().unwrap().iter().map(|node| node["name"].clone()).collect();
    assert_eq!(names, ["Webhook", "HTTP Request", "Is large", "Slack", "Rest"]);
    assert_eq!(workflow["connections"]["Is large"]["main"].as_array().unwrap().len(), 2);
}

#[test]
fn the_coordination_page_sets_a_project_up() {
    let home = tempfile::tempdir().unwrap();
    let page = page("docs/coordination.md");
    let said = run_script(&prompts(block(page, "admin project add")), home.path(), &[]);
    for name in ["prj_a", "agt_a", "Build the login"] {
        assert!(said.contains(name), "{said}");
    }
    let tokens = block(page, "admin token issue");
    let tokens: Vec<_> = tokens.lines().filter(|line| line.contains("token issue")).collect();
    assert!(run_script(&tokens.join("\n"), home.path(), &[]).contains("runner"));
}

#[test]
fn the_gateway_page_has_a_configuration_that_starts() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("config.yaml"), block(page("docs/gateway.md"), "# config.yaml")).unwrap();
    let mut command = Command::new(crate::support::binary());
    command.args(["gateway", "--port", "0"]).current_dir(home.path()).env_clear();
    let mut gateway = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // A server that is not installed may be reported first.
    let lines = BufReader::new(gateway.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut said = Vec::new();
    let listens =
        lines.inspect(|line| said.push(line.clone())).any(|line| line.starts_with("n8n-lens listens on http"));
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    assert!(listens, "{said:?}");
}
