//! Names that reveal nothing: a hash of what is cached, with a key that only the owner of the cache can read.

use std::fmt;
use std::fs::TryLockError;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use crate::platform;

const KEY_BYTES: usize = 32;

/// How long another process may take to write the key.
const KEY_TIMEOUT: Duration = Duration::from_secs(2);

/// The name of a body.
#[derive(Clone, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// The name in a file's name, without its ending; `None` if it is not a name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_name = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name.then(|| Self(text.to_owned()))
    }

    /// The name of its lock, which some other names share.
    pub(super) fn lock(&self) -> &str {
        self.0.get(..2).unwrap_or("00")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

/// The key of all names.
pub(super) struct Key(hmac::Key);

impl Key {
    /// The key in this file, which is created if it does not exist.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut options = platform::private_options();
        options.create(true).truncate(false).read(true).write(true);
        platform::do_not_follow_links(&mut options);
        let mut file = options.open(path)?;
        let begun = Instant::now();
        while let Err(error) = file.try_lock() {
            match error {
                TryLockError::WouldBlock if begun.elapsed() < KEY_TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                error => return Err(error.into()),
            }
        }
        let mut key = Vec::new();
        (&file).take(KEY_BYTES as u64 + 1).read_to_end(&mut key)?;
        // A process can have been killed before it wrote the key.
        if key.len() != KEY_BYTES {
            key.resize(KEY_BYTES, 0);
            SystemRandom::new().fill(&mut key).map_err(|_| io::Error::other("the system has no random numbers"))?;
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(&key)?;
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &key)))
    }

    /// The name for what these parts identify.
    pub(super) fn name(&self, parts: &[&[u8]]) -> Name {
        let mut context = hmac::Context::with_key(&self.0);
        for part in parts {
            // The length before each part keeps it from being taken for the end of another.
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        Name(context.sign().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
