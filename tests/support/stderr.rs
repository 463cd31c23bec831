//! The standard error of a process: recorded, and printed only if the test fails.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The lines of one process so far.
pub struct Stderr {
    process: u32,
    lines: Arc<Mutex<Vec<String>>>,
    /// Ends when the process has closed standard error.
    reader: JoinHandle<()>,
}

impl Stderr {
    /// Reads the piped standard error of a process until it is closed.
    pub fn of(child: &mut Child) -> Self {
        let stderr = BufReader::new(child.stderr.take().expect("a piped standard error"));
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let kept = lines.clone();
        let reader = thread::spawn(move || {
            for line in stderr.split(b'\n').map_while(Result::ok) {
                kept.lock().unwrap().push(String::from_utf8_lossy(&line).into_owned());
            }
        });
        Self { process: child.id(), lines, reader }
    }

    /// The first result of `find` over the lines; `None` when standard error is closed or time is up.
    pub fn find<T>(&self, within: Duration, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let begun = Instant::now();
        loop {
            // Checked before the lines, so that the last ones are not missed.
            let is_over = self.reader.is_finished() || begun.elapsed() > within;
            let found = self.lines.lock().unwrap().iter().find_map(|line| find(line));
            if found.is_some() || is_over {
                return found;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        // Killing the process closes it, unless a child of the process keeps it open.
        self.find(Duration::from_secs(1), |_| None::<()>);
        for line in self.lines.lock().unwrap().iter() {
            eprintln!("[{}] {line}", self.process);
        }
    }
}
