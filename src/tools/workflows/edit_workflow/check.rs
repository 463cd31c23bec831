//! The structural problems of a workflow before and after an edit, found on another thread while the edit is made and written.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::workflow::catalogue::Catalogue;
use crate::workflow::problems::{Problems, problems_of_both};
use crate::workflow::{Document, Error};

/// The check of a workflow that is being edited.
pub(super) struct Check {
    after: Sender<Arc<Document>>,
    found: Found,
}

/// The problems before and after an edit, once they are found.
pub(super) struct Found(Receiver<[Problems; 2]>);

impl Check {
    /// Begins with the workflow before. If the edit fails, the thread ends without a result.
    pub(super) fn begin(before: &Arc<Document>, catalogue: Option<Arc<Catalogue>>) -> Self {
        let (sender, after) = channel();
        let (found, receiver) = channel();
        let before = Arc::clone(before);
        std::thread::spawn(move || {
            let after = || after.recv().map_err(|_| Error::Edit("the edit failed".to_owned()));
            let types = |name: &str| catalogue.as_ref()?.find(name);
            if let Ok(both) = problems_of_both(&before, after, types) {
                // Nobody waits if the edit could not be written.
                let _ = found.send(both);
            }
        });
        Self { after: sender, found: Found(receiver) }
    }

    /// Continues with the workflow after.
    pub(super) fn finish(self, after: &Arc<Document>) -> Found {
        // Nobody receives it if the workflow before cannot be checked.
        let _ = self.after.send(Arc::clone(after));
        self.found
    }
}

impl Found {
    /// Waits until the problems are found. None are returned if the check failed: the edit was made all the same.
    pub(super) fn wait(&self) -> [Problems; 2] {
        self.0.recv().unwrap_or_default()
    }
}
