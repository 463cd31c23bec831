//! Executions from the cache: n8n is asked whether they are still there and unchanged, and sends them once.

use std::pin::pin;
use std::time::Duration;

use super::caching::Caching;
use super::client::Client;
use super::error::Error;
use super::execution::{ExecutionRequest, Reading};
use super::progress::{Progress, Stage};
use crate::blocking::blocking;
use crate::cache::{Attempt, Cache, Claim, Entry, Holder, Name, State};
use crate::json::{Cursor, Projection, PrunedReader, ReadAhead};

/// How often a download by another process is checked.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// How often waiting processes see that a download continues: more often than the shortest `--idle-timeout`, 1 s.
const BEAT_INTERVAL: Duration = Duration::from_millis(200);

impl Client {
    /// Reads an execution from the cache, or else downloads it into the cache; waits if that is under way elsewhere.
    pub(super) async fn read_cached<P: Projection>(
        &self,
        caching: &Caching,
        request: &ExecutionRequest,
        projection: &P,
        progress: &Progress,
    ) -> Result<Reading<P::View>, Error> {
        let Some(name) = self.name(&caching.cache, request).await else {
            return self.uncached(caching, request, projection, progress).await;
        };
        loop {
            if let Some(reading) = self.look(caching, &name, request, projection, progress).await? {
                return Ok(reading);
            }
            if caching.offline {
                return Err(Error::NotCached(request.id.clone()));
            }
            match claim(&caching.cache, &name).await {
                Some(Attempt::Claimed(claim)) => {
                    // It may have been downloaded elsewhere between the look and the claim.
                    if find(&caching.cache, &name).await.is_none() {
                        let read = beating(&claim, self.fetch(request, projection, progress, Some(&claim))).await;
                        if read.is_err() {
                            // The waiting processes would fail one after the other.
                            claim.refuse();
                        }
                        return read;
                    }
                }
                Some(Attempt::Taken(holder)) => {
                    if !wait(holder, progress, self.settings().idle_timeout).await {
                        return self.fetch(request, projection, progress, None).await;
                    }
                }
                None => return self.fetch(request, projection, progress, None).await,
            }
        }
    }

    /// Without a usable cache.
    async fn uncached<P: Projection>(
        &self,
        caching: &Caching,
        request: &ExecutionRequest,
        projection: &P,
        progress: &Progress,
    ) -> Result<Reading<P::View>, Error> {
        match caching.offline {
            true => Err(Error::NotCached(request.id.clone())),
            false => self.fetch(request, projection, progress, None).await,
        }
    }

    /// The name of a body in the cache: different for each n8n, key, id and limit.
    async fn name(&self, cache: &Cache, request: &ExecutionRequest) -> Option<Name> {
        let address = self.settings().address.join(&["executions", &request.id], &[])?;
        let (key, limit) = (self.api_key()?.clone(), [u8::from(request.ignore_size_limit)]);
        let cache = cache.clone();
        blocking(move || cache.name(&[address.as_str().as_bytes(), key.expose().as_bytes(), &limit])).await
    }

    /// Reads an entry, if there is one and n8n says that it is still right. Any other entry is removed.
    async fn look<P: Projection>(
        &self,
        caching: &Caching,
        name: &Name,
        request: &ExecutionRequest,
        projection: &P,
        progress: &Progress,
    ) -> Result<Option<Reading<P::View>>, Error> {
        let cache = &caching.cache;
        let Some(entry) = find(cache, name).await else { return Ok(None) };
        let age = entry.age().filter(|_| caching.offline);
        if let Some(allowance) = self.allowance().filter(|_| !caching.offline) {
            allowance.admit()?;
        }
        let is_right = if caching.offline { Ok(true) } else { self.is_unchanged(&entry, &request.id, progress).await };
        if !matches!(is_right, Ok(true)) {
            remove(cache, name).await;
            return is_right.map(|_| None);
        }
        let _slot = self.slots().executions.read(progress).await?;
        match read(entry, projection).await {
            Some(view) => Ok(Some(Reading { view, age })),
            None => {
                tracing::warn!(execution = request.id, "its file in the cache is damaged: it is downloaded again");
                remove(cache, name).await;
                Ok(None)
            }
        }
    }

    /// Whether n8n still has the execution as it was noted, for this key.
    async fn is_unchanged(&self, entry: &Entry, id: &str, progress: &Progress) -> Result<bool, Error> {
        match self.stamp(id, progress).await {
            Ok(stamp) => Ok(stamp.and_then(|stamp| stamp.note()).is_some_and(|note| note == entry.note())),
            // The request for the body would be answered in the same way.
            Err(
                error @ (Error::NotFound(_)
                | Error::Unauthorized
                | Error::Forbidden { .. }
                | Error::Unreachable { .. }
                | Error::Unavailable { .. }
                | Error::FirstByte(_)),
            ) => Err(error),
            Err(error) => {
                tracing::debug!(%error, "whether the execution has changed is not known");
                Ok(false)
            }
        }
    }
}

/// Reads an entry like a saved body; `None` if it is damaged, and what was read of it is not used.
async fn read<P: Projection>(entry: Entry, projection: &P) -> Option<P::View> {
    let (body, watch) = entry.body().ok()?;
    let projection = projection.clone();
    let (view, entry) = blocking(move || {
        let mut body = ReadAhead::new(body);
        // It was checked to be UTF-8 when it was downloaded, and the watch knows whether it is still the same.
        let batches = PrunedReader::new(&mut body, projection.pruner().trusting_utf8());
        let view = projection.read(Cursor::over(batches));
        // A reader that stops early has not seen whether the rest is sound.
        let _ = std::io::copy(&mut body, &mut std::io::sink());
        (view, entry)
    })
    .await;
    watch.is_whole().then(|| {
        entry.touch();
        view
    })
}

/// Runs a download, and shows waiting processes that this one is still at work, even while n8n sends nothing.
async fn beating<T>(claim: &Claim, download: impl Future<Output = T>) -> T {
    let mut download = pin!(download);
    loop {
        match tokio::time::timeout(BEAT_INTERVAL, &mut download).await {
            Ok(read) => return read,
            Err(_) => claim.beat(),
        }
    }
}

/// Waits for the download of another process, or of another call, and shows its progress. Returns `false` if it will
/// not leave a file: the holder reported so, or has been stopped for longer than `patience`.
async fn wait(mut holder: Holder, progress: &Progress, patience: Duration) -> bool {
    let mut was_stopped = false;
    loop {
        let (looked, state) = blocking(move || {
            let state = holder.look(patience);
            (holder, state)
        })
        .await;
        holder = looked;
        match state {
            State::Held(amount) => progress.set(match amount {
                Some(amount) if amount.bytes > 0 => Stage::Reading { bytes: amount.bytes, total: amount.total },
                _ => Stage::Waiting { stored: None },
            }),
            // One that has just become the holder may not have reported yet.
            State::Stopped if !was_stopped => was_stopped = true,
            State::Stopped => {
                tracing::warn!(
                    "the process that downloads this execution into the cache was stopped; it is downloaded again"
                );
                return false;
            }
            State::Refused => return false,
            State::Free => return true,
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

async fn find(cache: &Cache, name: &Name) -> Option<Entry> {
    let (cache, name) = (cache.clone(), name.clone());
    blocking(move || cache.find(&name)).await
}

async fn remove(cache: &Cache, name: &Name) {
    let (cache, name) = (cache.clone(), name.clone());
    blocking(move || cache.remove(&name)).await;
}

async fn claim(cache: &Cache, name: &Name) -> Option<Attempt> {
    let (cache, name) = (cache.clone(), name.clone());
    blocking(move || cache.claim(&name)).await
}
