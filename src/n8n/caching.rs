//! Whether and how executions are cached.

use crate::cache::Cache;

/// How executions are cached.
#[derive(Clone)]
pub struct Caching {
    /// Where.
    pub cache: Cache,
    /// Whether n8n is not asked for executions at all.
    pub offline: bool,
}
