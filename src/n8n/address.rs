//! The address of an n8n instance.

use std::fmt;
use std::net::IpAddr;

use percent_encoding::percent_decode_str;
use reqwest::{ClientBuilder, Url};

use crate::http_client::{builder, is_loopback};
use crate::secrets::Secret;

/// The address of n8n's public API. Printing it shows only scheme, host and port.
#[derive(Clone)]
pub struct Address(Url);

impl Address {
    /// Parses `https://host`, with or without a trailing slash, a base path or `/api/v1`.
    ///
    /// # Errors
    /// When the text is not a URL, its scheme is neither http nor https, or it names no host; the message says which.
    pub fn parse(address: &str) -> Result<Self, String> {
        const EXAMPLE: &str = "Example: https://n8n.example.com.";
        if let Some(complete) = with_scheme(address.trim()) {
            return Err(format!("N8N_URL has no scheme: write {complete}."));
        }
        let mut url =
            Url::parse(address.trim()).map_err(|error| format!("N8N_URL is not a valid URL ({error}). {EXAMPLE}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(format!("N8N_URL must start with https:// or http:// and name a host. {EXAMPLE}"));
        }
        let path = url.path().trim_end_matches('/');
        let base = path.strip_suffix("/api/v1").unwrap_or(path);
        let path = format!("{base}/api/v1/");
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// Whether it contains a user name or a password, for a proxy in front of n8n.
    pub fn has_credentials(&self) -> bool {
        !self.0.username().is_empty() || self.0.password().is_some()
    }

    /// The URL of n8n's editor.
    pub(super) fn editor(&self) -> Url {
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/').trim_end_matches("/api/v1").to_owned();
        url.set_path(&format!("{base}/"));
        url
    }

    /// The same, to be shown: without credentials.
    pub(super) fn shown_editor(&self) -> String {
        let mut url = self.editor();
        // Both fail only for a URL without a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.into()
    }

    /// The URL of one resource; `None` if the segments cannot be part of a URL unchanged.
    pub(super) fn join(&self, segments: &[&str], query: &[(&str, &str)]) -> Option<Url> {
        extended(self.0.clone(), segments, query)
    }

    /// The production URL of a webhook, a form or a chat; `None` as for [`join`](Self::join).
    pub(super) fn production(&self, segments: &[String], query: &[(String, String)]) -> Option<Url> {
        extended(self.editor(), segments, query)
    }

    /// The credentials for a proxy in front of n8n: the password, and `user:password` as Basic authentication sends it.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let user = decoded(self.0.username());
        match self.0.password().map(decoded) {
            Some(password) => vec![Secret::new(format!("{user}:{password}")), Secret::new(password)],
            // A token in place of a user name.
            None => vec![Secret::new(user)],
        }
    }

    /// Whether n8n runs on this machine or in its network, where compressing a body takes longer than
    /// sending it.
    pub(super) fn is_near(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        match host.trim_matches(['[', ']']).parse() {
            Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
            Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
            Err(_) => is_loopback(&self.0),
        }
    }

    /// A builder of HTTP clients for this n8n alone.
    pub(super) fn client(&self) -> ClientBuilder {
        builder(&self.0)
    }
}

/// The address that is most likely meant if its scheme is missing, without what follows the port: on this machine and in
/// its network n8n seldom has TLS. Only shown: the key is not sent to a guess.
fn with_scheme(address: &str) -> Option<String> {
    if address.contains("://") {
        return None;
    }
    let url = Address(Url::parse(&format!("https://{address}")).ok()?);
    let is_local = url.is_near() || !url.0.host_str()?.contains('.');
    let secure = url.to_string();
    Some(if is_local { secure.replacen("https", "http", 1) } else { secure })
}

/// A URL with more segments and a query. Not every text can be a segment: the parser drops `.`, `..`, tabs and line
/// breaks, in whatever order leads out of `base`. So the parsed URL must have exactly these segments below it.
fn extended<S: AsRef<str>>(base: Url, segments: &[S], query: &[(S, S)]) -> Option<Url> {
    let mut url = base.clone();
    url.path_segments_mut().ok()?.pop_if_empty().extend(segments);
    let below = url.path().strip_prefix(base.path().trim_end_matches('/'))?.strip_prefix('/')?;
    let parsed = below.split('/').map(|segment| percent_decode_str(segment).collect::<Vec<_>>());
    if !parsed.eq(segments.iter().map(|segment| segment.as_ref().as_bytes())) {
        return None;
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    Some(url)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.origin().ascii_serialization())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
