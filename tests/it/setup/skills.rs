//! `--skill`: the file that is written where a client reads skills.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use super::Home;

const TEXT: &str = include_str!("../../../src/cli/setup/SKILL.md");

/// Each client that reads skills, its folder in the home folder, and that of a project.
const FOLDERS: [(&str, &str, &str); 6] = [
    ("claude-code", ".claude/skills", ".claude/skills"),
    ("cursor", ".cursor/skills", ".cursor/skills"),
    ("vscode", ".copilot/skills", ".github/skills"),
    ("codex", ".agents/skills", ".agents/skills"),
    ("gemini", ".gemini/skills", ".gemini/skills"),
    ("devin", ".codeium/windsurf/skills", ".windsurf/skills"),
];

fn file_in(folder: &str) -> String {
    format!("{folder}/n8n-lens/SKILL.md")
}

#[test]
fn it_is_shown_written_once_and_deleted() {
    for (client, user, project) in FOLDERS {
        for (folder, more) in [(user, &[][..]), (project, &["--project"][..])] {
            let (home, file) = (Home::new(), file_in(folder));
            let setup = |arguments: &[&str]| home.setup(&[&[client, "--skill"], more, arguments].concat());
            let shown = setup(&[]);
            let path = home.path(&file);
            assert!(
                shown.out.contains(&format!("Would create {}:\n\n--- /dev/null\n+++ ", path.display())),
                "{}",
                shown.out
            );
            assert!(
                shown.out.contains("\n+name: n8n-lens\n") && shown.out.ends_with("add --write.\n"),
                "{}",
                shown.out
            );
            assert!(home.files().is_empty());

            let written = setup(&["--write"]);
            assert_eq!(written.code, Some(0), "{}", written.err);
            assert!(written.out.starts_with(&format!("Created {}. Restart ", path.display())), "{}", written.out);
            assert_eq!(
                (home.text(&file), home.files()),
                (TEXT.to_owned(), vec![file.clone()]),
                "no settings are touched"
            );
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o600, 0o600);
            assert!(setup(&["--write"]).out.contains("already contains the skill. Nothing was changed."));

            assert!(setup(&["--remove"]).out.contains("Would delete ") && path.exists());
            assert!(setup(&["--remove", "--write"]).out.starts_with(&format!("Deleted {}.", path.display())));
            assert!(home.files().is_empty() && !path.parent().unwrap().exists(), "its folder is gone, too");
            assert!(path.parent().unwrap().parent().unwrap().exists(), "the folder of all skills stays");
            assert!(setup(&["--remove", "--write"]).out.contains("does not exist. Nothing was changed."));
        }
    }
}

#[test]
fn what_a_user_wrote_into_it_is_kept() {
    let (home, file) = (Home::new(), file_in(".claude/skills"));
    let setup = |arguments: &[&str]| home.setup(&[&["claude-code", "--skill"], arguments].concat());
    home.put(&file, "---\nname: n8n-lens\n---\nAsk Ada first.\n");
    assert!(setup(&[]).out.contains("\n-Ask Ada first.\n"));
    assert!(setup(&["--write"]).out.contains(" The old file is "));
    assert!(home.text(&format!("{file}.bak")).contains("Ask Ada first.") && home.text(&file) == TEXT);
    home.put(&file, "mine");
    assert!(setup(&["--remove", "--write"]).out.contains(" The old file is "));
    assert_eq!(home.files(), [format!("{file}.bak"), format!("{file}.bak2")]);
    assert_eq!(home.text(&format!("{file}.bak2")), "mine");
}

#[test]
fn what_is_not_possible_is_refused() {
    let home = Home::new();
    let done = home.setup(&["claude-desktop", "--skill"]);
    assert_eq!(done.code, Some(2), "{}", done.out);
    assert!(done.err.contains("Claude Desktop reads no folder of skills"), "{}", done.err);
    assert_eq!(home.setup(&["cursor", "--skill", "--http", "http://127.0.0.1:3000/mcp"]).code, Some(2));
    // A project may not lead outside itself.
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path(".cursor")).unwrap();
    symlink(outside.path(), home.path(".cursor/skills")).unwrap();
    let done = home.setup(&["cursor", "--skill", "--project", "--write"]);
    assert!(done.err.contains("leads out of the project"), "{}", done.err);
    assert!(fs::read_dir(outside.path()).unwrap().next().is_none());
}
