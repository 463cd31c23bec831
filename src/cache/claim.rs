//! The right to write a body: one process has it, others can watch it.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::Cache;
use super::name::Name;
use crate::platform;

/// The line in a lock file is shorter; spaces fill it.
const LINE_BYTES: usize = 160;

/// How often to check a lock with the line of another name: its holder may not have written its own line yet.
const LOOKS: u32 = 3;

/// The pause between two checks.
const PAUSE: Duration = Duration::from_millis(10);

const READING: &str = "reading";
const REFUSED: &str = "refused";

/// How much of a body was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Bytes so far.
    pub bytes: u64,
    /// Bytes in total, if known.
    pub total: Option<u64>,
}

/// The attempt to claim a body.
pub enum Attempt {
    /// The caller may write it.
    Claimed(Arc<Claim>),
    /// It is being written elsewhere, in this process or in another one.
    Taken(Holder),
}

/// The right to write one body. It ends when this is dropped, or the process ends.
pub struct Claim {
    pub(super) cache: Cache,
    pub(super) name: Name,
    lock: Mutex<Lock>,
}

/// The lock file, which waiting processes read.
struct Lock {
    file: File,
    /// What was reported last.
    amount: Amount,
    /// Nothing is reported after a refusal: the thread that writes may refuse while another one reports.
    is_refused: bool,
}

impl Claim {
    /// Claims the body with this name; `None` if the lock is held for another body that shares it.
    pub(super) fn attempt(cache: &Cache, name: &Name) -> io::Result<Option<Attempt>> {
        let path = cache.0.folder.lock(name);
        for _ in 0..LOOKS {
            let mut file = open(&path)?;
            match file.try_lock() {
                Ok(()) => {
                    let claim = Self {
                        cache: cache.clone(),
                        name: name.clone(),
                        lock: Mutex::new(Lock { file, amount: Amount::default(), is_refused: false }),
                    };
                    claim.say(READING, Amount::default())?;
                    return Ok(Some(Attempt::Claimed(Arc::new(claim))));
                }
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {}
            }
            // Windows does not let a locked file be read.
            let is_other = Line::read(&mut file).is_some_and(|line| line.name != *name);
            if !is_other {
                return Ok(Some(Attempt::Taken(Holder { file, name: name.clone() })));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(None)
    }

    /// Reports to waiting processes how much was read.
    pub(super) fn report(&self, amount: Amount) {
        // If this fails, they merely see no progress.
        let _ = self.say(READING, amount);
    }

    /// Reports to waiting processes that this one is still at work, even if it has read nothing more.
    pub fn beat(&self) {
        let amount = self.lock().amount;
        self.report(amount);
    }

    /// Reports to waiting processes that the body will not be kept, so that they fetch it themselves.
    pub fn refuse(&self) {
        let _ = self.say(REFUSED, Amount::default());
    }

    /// Where the body is written.
    pub(super) fn part(&self) -> PathBuf {
        self.cache.0.folder.part(&self.name)
    }

    fn say(&self, word: &str, amount: Amount) -> io::Result<()> {
        let total = amount.total.map(|total| total.to_string()).unwrap_or_default();
        let line = format!("{} {word} {} {total}", self.name, amount.bytes);
        let mut lock = self.lock();
        if lock.is_refused {
            return Ok(());
        }
        (lock.is_refused, lock.amount) = (word == REFUSED, amount);
        lock.file.rewind()?;
        lock.file.write_all(format!("{line:<LINE_BYTES$}").as_bytes())
    }

    fn lock(&self) -> MutexGuard<'_, Lock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Another holder of the claim, in this process or in another one.
pub struct Holder {
    file: File,
    name: Name,
}

/// The state of a claim that is held elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is still held; how much its holder has read, if known.
    Held(Option<Amount>),
    /// It is still held, by a process that has not reported for longer than `patience`.
    Stopped,
    /// The holder is done, or died.
    Free,
    /// The holder found that the body must not be kept.
    Refused,
}

impl Holder {
    /// Checks the claim; its holder counts as stopped if it has not reported for longer than `patience`. Blocks for a
    /// moment.
    pub fn look(&mut self, patience: Duration) -> State {
        let is_free = !matches!(self.file.try_lock(), Err(TryLockError::WouldBlock));
        let line = Line::read(&mut self.file);
        let is_other = line.as_ref().is_some_and(|line| line.name != self.name);
        if is_free {
            // The lock must not be held while the caller does something else.
            let _ = self.file.unlock();
        }
        match line {
            // Names share locks: the body was written, and the lock is now held for another one.
            _ if is_other => State::Free,
            Some(Line { is_refused: true, .. }) => State::Refused,
            _ if is_free => State::Free,
            _ if self.silence().is_some_and(|silence| silence > patience) => State::Stopped,
            line => State::Held(line.map(|line| line.amount)),
        }
    }

    /// How long ago its holder last reported.
    fn silence(&self) -> Option<Duration> {
        let reported = self.file.metadata().and_then(|metadata| metadata.modified()).ok()?;
        SystemTime::now().duration_since(reported).ok()
    }
}

/// Runs `work` while no process can claim what this lock protects; `None` if it is held.
pub(super) fn unclaimed<T>(lock: &Path, work: impl FnOnce() -> T) -> Option<T> {
    let file = open(lock).ok()?;
    file.try_lock().ok()?;
    Some(work())
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = platform::private_options();
    options.create(true).truncate(false).read(true).write(true);
    platform::do_not_follow_links(&mut options);
    options.open(path)
}

/// The line that the holder of a lock writes.
struct Line {
    name: Name,
    is_refused: bool,
    amount: Amount,
}

impl Line {
    fn read(file: &mut File) -> Option<Self> {
        let mut line = String::new();
        file.rewind().ok()?;
        file.take(LINE_BYTES as u64).read_to_string(&mut line).ok()?;
        let mut words = line.split_whitespace();
        let (name, word) = (Name::parse(words.next()?)?, words.next()?);
        let mut number = || words.next()?.parse().ok();
        let amount = Amount { bytes: number()?, total: number() };
        Some(Self { name, is_refused: word == REFUSED, amount })
    }
}
