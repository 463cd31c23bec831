//! MCP over Streamable HTTP, to a server elsewhere: rmcp's own transport. It reads results whole, and takes
//! 16 MiB of JSON at most.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::exit::Exit;
use super::lines::LINE_BYTES;
use crate::secrets::same_origin;

/// `headers` come with every request.
///
/// # Errors
/// What is wrong with either.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, Exit> {
    // Somebody else may have installed a provider; then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let address = reqwest::Url::parse(url).map_err(|_| Exit::because("its url is not valid"))?;
    // The address itself may hold a secret.
    let mut client = reqwest::Client::builder().tcp_nodelay(true).redirect(same_origin()).referer(false);
    if matches!(address.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) {
        client = client.no_proxy();
    }
    let client = client.build().map_err(|_| Exit::because("no HTTP client could be made"))?;
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_str(name).map_err(|_| Exit::because("a header's name is not valid"))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| Exit::because("a header's value is not valid"))?;
        value.set_sensitive(true);
        custom.insert(name, value);
    }
    let config =
        StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom).max_sse_event_size(LINE_BYTES);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
