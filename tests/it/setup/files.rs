//! The effect on a file.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::support::http_client::HttpServer;

use super::{CLIENTS, Home, KEY, URL, file_of, n8n, servers};

/// A file with comments, another server, and its own order and white space.
fn written_by_hand(client: &str) -> String {
    let json = "{\n\t\"theme\" : \"dark\",\n\t\"SERVERS\": {\n\t\t\"zebra\": { \"command\": \"z\", \"env\": { \"Z_TOKEN\": \"zebra-secret\" } }\n\t},\n\t\"numbers\": [1,2,   3.50],\n\t\"last\": null\n}\n";
    let json = json.replace("SERVERS", servers(client));
    match client {
        "claude-code" | "claude-desktop" => json,
        "codex" => "# my settings\nmodel = 'o3' # the model\n\n[mcp_servers.zebra] # striped\ncommand = \"z\"\nargs = [\n  \"a\", # first\n]\n\n[mcp_servers.zebra.env]\nZ_TOKEN = \"\"\"zebra-secret\"\"\"\n\n[projects.\"/srv/shop\"]\ntrust_level = \"trusted\"\n\n[[rules]]\nsince = 2026-11-22T00:00:00Z\nratio = 1.50\n# the end\n".to_owned(),
        _ => json.replace("\t\"theme\"", "\t// my settings\n\t\"theme\"").replace("null\n", "null, // comma\n\t/* the\n\t   end */\n"),
    }
}

#[test]
fn without_write_nothing_changes() {
    let home = Home::new();
    for (client, file) in CLIENTS {
        let done = home.setup(&[client]);
        assert_eq!(done.code, Some(0), "{}", done.err);
        let path = home.path(file);
        assert!(done.out.contains(&format!("Would create {}:\n\n--- /dev/null\n+++ ", path.display())), "{}", done.out);
        assert!(done.out.contains("n8n-lens") && done.out.contains("\n+"), "{}", done.out);
        assert!(done.out.contains("Nothing was changed. To do it, add --write."), "{}", done.out);
        assert!(!done.said().contains(KEY), "{}", done.said());
    }
    assert!(home.files().is_empty(), "{:?}", home.files());

    let before = written_by_hand("cursor");
    home.put(file_of("cursor"), &before);
    let done = home.setup(&["cursor"]);
    assert!(done.out.contains("Would change ") && done.out.contains("\n+\t\t\"n8n-lens\": {\n"), "{}", done.out);
    assert_eq!(home.text(file_of("cursor")), before);
    assert_eq!(home.files(), [file_of("cursor")]);
}

#[test]
fn a_new_file_is_created_and_the_second_time_nothing_changes() {
    for (client, file) in CLIENTS {
        let home = Home::new();
        let done = home.write(&[client]);
        assert!(done.out.starts_with(&format!("Created {}. Restart ", home.path(file).display())), "{}", done.out);
        let mode = fs::metadata(home.path(file)).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600, "{client}: {mode:o}");
        let text = home.text(file);
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{text:?}");
        for again in [&[client][..], &[client, "--write"]] {
            let again = home.setup(again);
            assert_eq!(again.code, Some(0), "{}", again.err);
            let expected = "already contains n8n-lens, with these settings. Nothing was changed.";
            assert!(again.out.contains(expected), "{}", again.out);
        }
        assert_eq!((home.text(file), home.files()), (text, vec![file.to_owned()]), "{client}");
    }
}

#[test]
fn what_others_have_written_stays_and_remove_undoes() {
    for (client, file) in CLIENTS {
        for line_break in ["\n", "\r\n"] {
            let home = Home::new();
            let before = written_by_hand(client).replace('\n', line_break);
            home.put(file, &before);
            home.write(&[client]);
            let added = home.text(file);
            assert_ne!(added, before);
            assert_eq!(added.matches('\n').count(), added.matches(line_break).count(), "{client}: {added:?}");
            // Every old line is there, in order; one may have gained a comma.
            let mut rest = added.lines();
            for line in before.lines() {
                let comma = line.replacen(" } }", " } },", 1);
                assert!(rest.any(|new| new == line || new == comma), "{client}: {line:?} is not in {added}");
            }
            let removed = home.setup(&[client, "--remove"]);
            assert!(removed.out.contains("\n-") && removed.out.contains("add --write"), "{}", removed.out);
            assert_eq!(home.text(file), added);
            let removed = home.write(&[client, "--remove"]);
            assert!(removed.out.starts_with("Removed n8n-lens from "), "{}", removed.out);
            assert_eq!(home.text(file), before, "{client}");
            let again = home.write(&[client, "--remove"]);
            assert!(again.out.contains("does not contain n8n-lens. Nothing was changed."), "{}", again.out);
            assert_eq!(home.text(file), before, "{client}");
        }
    }
}

#[test]
fn texts_of_others_are_not_shown() {
    for (client, file) in CLIENTS {
        let home = Home::new();
        home.put(file, written_by_hand(client));
        for arguments in [&[client][..], &[client, "--write"], &[client, "--remove"], &[client, "--remove", "--write"]]
        {
            let said = home.setup(arguments).said();
            assert!(!said.contains("secret") && !said.contains(KEY), "{arguments:?}: {said}");
        }
    }
    // In one line, with escapes, and in comments.
    let home = Home::new();
    let line = r#"{"mcpServers":{"z":{"args":["--token","s\u0065cret\"//","x"]}}/*"secret"*/} // secret"#;
    home.put(file_of("cursor"), line);
    let shown = home.setup(&["cursor"]).out;
    assert!(shown.contains(r#"{"z":{"args":["[redacted]","[redacted]","[redacted]"]}"#), "{shown}");
    assert!(!shown.contains("secret") && !shown.contains("s\\u0065cret"), "{shown}");
    let toml = "a = 'secret' # secret\nb = \"\"\"x\n'secret'\"\"\"\"\nc = '''secret\\'''\n[mcp_servers]\n";
    home.put(file_of("codex"), toml);
    let shown = home.setup(&["codex"]).out;
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn a_copy_of_the_old_file_is_next_to_it() {
    let home = Home::new();
    let (file, before) = (file_of("gemini"), written_by_hand("gemini"));
    let path = home.put(file, &before);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let done = home.write(&["gemini"]);
    assert!(done.out.contains(&format!("Changed {0}. The old file is {0}.bak. Restart Gemini CLI", path.display())));
    assert_eq!(home.text(&format!("{file}.bak")), before);
    let added = home.text(file);
    home.write(&["gemini", "--http", "http://127.0.0.1:3000/mcp"]);
    assert_eq!(home.text(&format!("{file}.bak")), before, "an older copy is not replaced");
    assert_eq!(home.text(&format!("{file}.bak2")), added);
    for file in home.files() {
        assert_eq!(fs::metadata(home.path(&file)).unwrap().mode() & 0o777, 0o640, "{file}");
    }
    assert_eq!(home.files().len(), 3, "{:?}", home.files());
}

#[test]
fn a_broken_file_is_never_touched() {
    let home = Home::new();
    let deep = "[".repeat(100_000);
    for (client, content, expected) in [
        ("claude-code", "{\n  \"mcpServers\": {\n    oops\n  }\n}".as_bytes(), "is broken at line 3, column 5: "),
        ("claude-code", b"{ // comments are not JSON\n}", "is broken at line 1, column 3: key must be a string."),
        ("claude-desktop", b"{\"a\": 1,}", "is broken at line 1, column 9: trailing comma."),
        ("cursor", b"{\"a\": \xc3\xa4\xff}", "is broken at line 1, column 8: a byte that is not UTF-8."),
        ("vscode", b"{\"servers\": {}} trailing", "is broken at line 1, column 17: "),
        ("gemini", b"{\"a\": 'b'}", "is broken at line 1, column 7: "),
        ("devin", deep.as_bytes(), "is broken at line 1, column 513: "),
        ("codex", b"[mcp_servers]\r\nx = \r\n", "is broken at line 2, column "),
        ("codex", b"a = 1\na = 2\n", "is broken at line 2, column 1: duplicate key"),
        ("cursor", b"{\"mcpServers\": {}, \"mcpServers\": {}}", "the member 'mcpServers' stands twice in one object"),
        ("cursor", b"{\"mcpServers\": []}", "its member 'mcpServers' is not an object"),
        ("cursor", b"{\"mcpServers\": {\"n8n-lens\": true}}", "its member 'n8n-lens' is not an object"),
        ("vscode", b"{\"inputs\": {}}", "its member 'inputs' is not an array"),
        ("gemini", b"[]", "its content is not an object"),
        ("codex", b"mcp_servers = 5", "its member 'mcp_servers' is not an object"),
    ] {
        let path = home.put(file_of(client), content);
        for arguments in [&[client][..], &[client, "--write"]] {
            let done = home.setup(arguments);
            let said = done.refused(1);
            assert!(said.contains(expected) && said.contains(path.to_str().unwrap()), "{client}: {said}");
            assert!(said.contains("unchanged"), "{said}");
        }
        assert_eq!(fs::read(&path).unwrap(), content);
    }
    assert_eq!(home.files().len(), CLIENTS.len(), "no copies: {:?}", home.files());
}

#[test]
fn empty_files_and_a_byte_order_mark_are_accepted() {
    for content in ["", "\n", "{}", "{ }\n", "\u{feff}{}", "// mine\n", "{\n}"] {
        let home = Home::new();
        home.put(file_of("vscode"), content);
        home.write(&["vscode"]);
        let text = home.text(file_of("vscode"));
        assert_eq!(text.starts_with('\u{feff}'), content.starts_with('\u{feff}'), "{text:?}");
        assert!(text.contains("\"n8n-lens\"") && text.contains("// mine") == content.contains("// mine"), "{text}");
        home.write(&["vscode", "--remove"]);
        assert!(!home.text(file_of("vscode")).contains("n8n"), "{}", home.text(file_of("vscode")));
    }
    // There is nothing to remove from these.
    for content in ["", "{\"servers\": {}, \"inputs\": []}"] {
        let home = Home::new();
        home.put(file_of("vscode"), content);
        home.write(&["vscode", "--remove"]);
        assert_eq!(home.text(file_of("vscode")), content);
    }
    let home = Home::new();
    home.write(&["vscode", "--remove"]);
    assert!(home.files().is_empty(), "{:?}", home.files());
    home.put(file_of("codex"), "model = \"o3\"");
    home.write(&["codex"]);
    assert_eq!(home.document("codex", file_of("codex"))["model"], "o3");
}

#[test]
fn a_link_is_followed() {
    let home = Home::new();
    let target = home.put("dotfiles/cursor.json", "{}");
    fs::create_dir_all(home.path(".cursor")).unwrap();
    let link = home.path(file_of("cursor"));
    symlink("../dotfiles/cursor.json", &link).unwrap();
    let done = home.write(&["cursor"]);
    assert!(done.out.contains(&format!("Changed {}. The old file is {0}.bak.", target.display())), "{}", done.out);
    assert!(link.is_symlink() && home.text("dotfiles/cursor.json").contains("n8n-lens"));
    assert_eq!(home.files(), [".cursor/mcp.json", "dotfiles/cursor.json", "dotfiles/cursor.json.bak"]);

    fs::remove_file(&target).unwrap();
    let done = home.setup(&["cursor", "--write"]);
    assert!(done.refused(1).contains("is a link to a file that does not exist. Create that file."), "{}", done.err);
    assert!(link.is_symlink() && !target.exists());
}

/// The authors of a project must not choose a file of its user.
#[test]
fn a_link_that_leads_out_of_the_project_is_refused() {
    let home = Home::new();
    let project = home.path("project");
    let settings = home.put("elsewhere/mcp.json", "{}");
    fs::create_dir_all(project.join("inside")).unwrap();
    fs::write(project.join("inside/mcp.json"), "{}").unwrap();
    let folder = project.join(".cursor");
    let refused = |to: &str| {
        for arguments in [&["cursor", "--project"][..], &["cursor", "--project", "--write"]] {
            let done = home.setup_in("project", arguments);
            let said = done.refused(1);
            assert!(said.contains("leads out of the project") || said.contains("does not exist"), "{to}: {said}");
        }
        assert_eq!(fs::read_to_string(&settings).unwrap(), "{}", "{to}");
        let expected = ["elsewhere/mcp.json", "project/inside/mcp.json"];
        assert_eq!(home.files().iter().filter(|file| !file.contains(".cursor")).collect::<Vec<_>>(), expected, "{to}");
    };
    // The folder is a link: to a folder with such a file, to one without, to none.
    for to in ["../elsewhere", "..", "../nowhere", settings.parent().unwrap().to_str().unwrap()] {
        symlink(to, &folder).unwrap();
        refused(to);
        fs::remove_file(&folder).unwrap();
    }
    // The file is a link.
    fs::create_dir(&folder).unwrap();
    for to in ["../../elsewhere/mcp.json", "../../elsewhere/other.json", settings.to_str().unwrap()] {
        symlink(to, folder.join("mcp.json")).unwrap();
        refused(to);
        fs::remove_file(folder.join("mcp.json")).unwrap();
    }
    symlink("../inside/mcp.json", folder.join("mcp.json")).unwrap();
    let done = home.setup_in("project", &["cursor", "--project", "--write"]);
    assert_eq!(done.code, Some(0), "a link inside of the project is followed: {}", done.err);
    assert!(home.text("project/inside/mcp.json").contains("n8n-lens"));
}

/// A settings file in one line, with many servers and as many secrets.
fn one_line(bytes: usize) -> String {
    let server = r#"{"command":"/usr/bin/x","args":["a","b"],"env":{"TOKEN":"zebra-secret"}}"#;
    let servers: Vec<_> = (0..bytes / 86).map(|at| format!(r#""s{at:07}":{server}"#)).collect();
    format!(r#"{{"mcpServers":{{{}}}}}"#, servers.join(","))
}

#[test]
fn a_settings_file_in_one_line_is_changed_and_shown_in_part() {
    let home = Home::new();
    home.put(file_of("cursor"), one_line(300_000));
    let shown = home.setup(&["cursor"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let (out, lines) = (&shown.out, shown.out.lines().map(str::len).max().unwrap());
    assert!(lines < 1000 && out.len() < 5000, "a line of {lines} bytes, of {} bytes", out.len());
    assert!(out.contains("chars]…") && out.contains(r#","n8n-lens":{"command":"#), "{out}");
    assert!(!out.contains("zebra-secret") && !out.contains(KEY), "{out}");
    let done = home.write(&["cursor"]);
    assert!(done.out.starts_with("Changed "), "{}", done.out);
    assert_eq!(home.text(file_of("cursor")).lines().count(), 1, "it stays one line");
    assert_eq!(home.document("cursor", file_of("cursor"))["mcpServers"].as_object().unwrap().len(), 300_000 / 86 + 1);
    home.write(&["cursor", "--remove"]);
    assert!(home.text(file_of("cursor")) == one_line(300_000), "every byte is as it was");
}

#[test]
fn a_settings_file_that_is_too_large_is_refused() {
    let home = Home::new();
    for (client, file) in CLIENTS {
        let path = home.put(file, one_line(4_100_000));
        let said = home.setup(&[client]).refused(1).to_owned();
        assert!(said.contains(&format!("{} is larger than 4.0 MB", path.display())), "{said}");
    }
}

#[test]
fn what_is_read_only_or_not_a_file_is_refused() {
    let home = Home::new();
    let path = home.put(file_of("codex"), "");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(home.setup(&["codex"]).code, Some(0), "it can be looked at");
    let done = home.setup(&["codex", "--write"]);
    let expected = format!("{} is read-only. Make it writable, or change it where it is generated.", path.display());
    assert!(done.refused(1).contains(&expected), "{}", done.err);
    assert_eq!(home.text(file_of("codex")), "");

    fs::create_dir_all(home.path(file_of("cursor"))).unwrap();
    let done = home.setup(&["cursor", "--write"]);
    assert!(done.refused(1).contains("is not a file."), "{}", done.err);

    // The folder of the file cannot be created.
    home.put(".gemini", "a file");
    let done = home.setup(&["gemini", "--write"]);
    assert!(done.refused(1).contains("cannot be "), "{}", done.err);
    assert_eq!(home.files(), [".codex/config.toml", ".gemini"]);
}

#[test]
fn projects_have_files_of_their_own() {
    for (client, file) in [
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
    ] {
        let (home, project) = (Home::new(), Home::new());
        let user = home.path("");
        let done = project.write_with(&[client, "--project"], &[("HOME", user.to_str().unwrap())]);
        assert!(done.out.contains(&format!("Created {}.", project.path(file).display())), "{}", done.out);
        assert!(done.out.contains("The file contains a path of this machine, "), "{}", done.out);
        assert_eq!((project.files(), home.files()), (vec![file.to_owned()], vec![]));
        assert!(project.document(client, file)[servers(client)]["n8n-lens"].is_object());
        let mode = fs::metadata(project.path(file)).unwrap().mode() & 0o777;
        let umask = fs::metadata(project.put("made-here", "")).unwrap().mode() & 0o777;
        assert_eq!(mode, umask, "{client}: {mode:o}");
    }
    for client in ["claude-desktop", "devin"] {
        let done = Home::new().setup(&[client, "--project"]);
        assert!(done.refused(2).contains("has no file for projects. Leave out --project"), "{}", done.err);
    }
}

#[test]
fn clients_can_be_told_where_their_files_are() {
    let home = Home::new();
    for (client, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", "own/.claude.json"),
        ("codex", "CODEX_HOME", "own/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "own/.gemini/settings.json"),
        ("vscode", "XDG_CONFIG_HOME", "own/Code/User/mcp.json"),
    ] {
        home.write_with(&[client], &[(variable, home.path("own").to_str().unwrap())]);
        assert!(home.text(file).contains("n8n-lens"), "{client}");
    }
    assert_eq!(home.files().len(), 4, "{:?}", home.files());
}

#[test]
fn the_check_after_it_does_not_hide_that_the_file_is_written() {
    let home = Home::new();
    let server = n8n();
    let done = home.write_with(&["claude-code"], &[("N8N_URL", &server.url())]);
    assert!(done.out.starts_with("Created "), "{}", done.out);
    assert!(done.out.contains("\nok: n8n (unknown version) responds and accepts the API key.\n"), "{}", done.out);
    assert_eq!(done.err, "");

    let path = home.path(file_of("cursor"));
    for (variables, expected) in
        [([("N8N_URL", URL)], "could not be reached"), ([("N8N_API_KEY", "")], "N8N_API_KEY is missing")]
    {
        let done = home.write_with(&["cursor"], &variables);
        let written = format!("n8n-lens: {} is written, but the check failed: ", path.display());
        assert!(done.err.starts_with(&written) && done.err.contains(expected), "{}", done.err);
        assert!(done.out.starts_with("Created "), "{}", done.out);
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(home.files(), [".claude.json"]);
}

#[test]
fn a_server_over_http_is_checked_by_connecting_to_it() {
    let home = Home::new();
    let n8n = n8n();
    let server =
        HttpServer::start(&n8n.url(), &["--auth-token", "the-token", "--tools", "get_execution,list_executions"]);
    let url = format!("http://{}/mcp", server.authority);
    let write = |url: &str, token| home.write_with(&["cursor", "--http", url], &[("N8N_LENS_AUTH_TOKEN", token)]);
    let done = write(&url, "the-token");
    assert!(
        done.out.contains(&format!("\nok: {url} answers, with 2 tools.\n")) && done.err.is_empty(),
        "{}",
        done.said()
    );
    let path = home.path(file_of("cursor"));
    for (url, token) in [(url.as_str(), "another-token"), (&url, ""), (&n8n.url(), "the-token"), (URL, "the-token")] {
        fs::remove_file(&path).unwrap();
        let done = write(url, token);
        let written = format!(
            "n8n-lens: {} is written, but the check failed: {url} does not answer as an MCP server (",
            path.display()
        );
        assert!(done.err.starts_with(&written), "{}", done.err);
        assert!(done.err.contains("correct the address, or N8N_LENS_AUTH_TOKEN, its token."), "{}", done.err);
        assert!(!done.said().contains("the-token") && !done.said().contains("another-token"), "{}", done.said());
    }
}
