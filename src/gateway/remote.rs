//! MCP over Streamable HTTP, to a remote server. rmcp's own transport parses results, and accepts at most 16 MiB of
//! JSON.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::exit::Exit;
use super::limits::{CALLS_IN_FLIGHT, LINE_BYTES};
use super::remote_client::RemoteClient;
use crate::secrets::same_origin;

/// How many of the gateway's own requests, for lists of tools, are sent in addition to calls.
const OWN_REQUESTS: usize = 2;

/// A transport to `url` that sends `headers` with every request.
///
/// # Errors
/// The URL, or the name or value of a header, is invalid.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<RemoteClient>, Exit> {
    let address = reqwest::Url::parse(url).map_err(|_| Exit::because("its url is invalid"))?;
    // The URL itself may contain a secret, so no Referer is sent.
    let client = crate::http_client::builder(&address).tcp_nodelay(true).redirect(same_origin()).referer(false);
    let client = client.build().map_err(|_| Exit::because("the HTTP client could not be created"))?;
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_str(name).map_err(|_| Exit::because("the name of a header is invalid"))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| Exit::because("the value of a header is invalid"))?;
        value.set_sensitive(true);
        custom.insert(name, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(custom)
        .max_sse_event_size(LINE_BYTES)
        .max_concurrent_requests(CALLS_IN_FLIGHT + OWN_REQUESTS);
    Ok(StreamableHttpClientTransport::with_client(RemoteClient::new(client), config))
}
