//! Where n8n is.

use std::fmt;
use std::net::IpAddr;

use percent_encoding::percent_decode_str;
use reqwest::Url;

use crate::secrets::Secret;

/// The address of n8n's public API. It prints without user, password and query.
#[derive(Clone)]
pub struct Address(Url);

impl Address {
    /// Takes `https://host`, with or without a trailing slash, a base path or `/api/v1`.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn parse(address: &str) -> Result<Self, String> {
        const EXAMPLE: &str = "It looks like https://n8n.example.com.";
        let mut url =
            Url::parse(address.trim()).map_err(|error| format!("N8N_URL is not an address ({error}). {EXAMPLE}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(format!("N8N_URL must begin with https:// or http:// and name a host. {EXAMPLE}"));
        }
        let path = url.path().trim_end_matches('/');
        let base = path.strip_suffix("/api/v1").unwrap_or(path);
        let path = format!("{base}/api/v1/");
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// The URL of n8n's editor.
    pub(super) fn editor(&self) -> Url {
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/').trim_end_matches("/api/v1").to_owned();
        url.set_path(&format!("{base}/"));
        url
    }

    /// The URL of one resource.
    pub(super) fn join(&self, segments: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// The password for a proxy in front of n8n, and what it is sent as.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let user = decoded(self.0.username());
        match self.0.password().map(decoded) {
            Some(password) => vec![Secret::new(format!("{user}:{password}")), Secret::new(password)],
            // A token in the place of a user.
            None => vec![Secret::new(user)],
        }
    }

    /// Whether the bytes stay on this machine or in its network, where compressing them costs more
    /// time than sending them.
    pub(super) fn is_near(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        match host.trim_matches(['[', ']']).parse() {
            Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
            Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
            Err(_) => self.is_loopback(),
        }
    }

    /// Whether the address is this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let ip: Result<IpAddr, _> = host.trim_matches(['[', ']']).parse();
        host == "localhost" || host.ends_with(".localhost") || ip.is_ok_and(|ip| ip.is_loopback())
    }
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
