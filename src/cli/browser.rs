//! Opens the page in the browser. Every user of this machine can read a program's arguments, so the address, which contains a
//! token, is on no command line: a file that only its owner can read redirects the browser to it.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempPath;
use tokio::process::Command;
use tokio::time::timeout;

use crate::platform::browser_folder;
use crate::secrets;

/// How long a program that opens files has to fail. If it is still running afterwards, it has found a browser, or is one.
const FAILURE_TIMEOUT: Duration = Duration::from_millis(250);

/// Opens an address, and returns the file that redirects to it, which is removed on drop; `None` if there is no
/// browser, or the file cannot be written.
pub(super) async fn open(address: &str) -> Option<TempPath> {
    let file = write(address).ok()?;
    launch(&file).await.then_some(file)
}

/// Writes a file that redirects to an address. Nothing in an address of ours needs to be escaped in HTML.
fn write(address: &str) -> std::io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("n8n-lens-").suffix(".html").tempfile_in(browser_folder())?;
    write!(
        file,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>n8n-lens</title>\n\
         <p><a href=\"{address}\">n8n-lens</a></p>\n</html>\n"
    )?;
    file.flush()?;
    Ok(file.into_temp_path())
}

/// Starts the first program that opens a file with the default application; returns whether there is one.
async fn launch(file: &Path) -> bool {
    for mut opener in open::commands(file) {
        secrets::withhold(&mut opener);
        let mut opener = Command::from(opener);
        opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // The Ctrl-C that ends the page must not end a browser that was started for it.
        #[cfg(unix)]
        opener.process_group(0);
        let Ok(mut opener) = opener.spawn() else { continue };
        match timeout(FAILURE_TIMEOUT, opener.wait()).await {
            // On Windows, Explorer reports failure even when it opens the file.
            Ok(Ok(status)) if !status.success() && !cfg!(windows) => {}
            _ => return true,
        }
    }
    false
}
