//! Where every HTTP client begins.

use std::net::IpAddr;

use reqwest::{ClientBuilder, Url};

/// A builder of clients for the origin of an address: redirects must not lead to another one.
pub(crate) fn builder(address: &Url) -> ClientBuilder {
    crate::tls::use_ring();
    let builder = reqwest::Client::builder();
    match is_loopback(address) {
        // No proxy reaches this machine, so nothing here is verified, and loading the system's certificates would only take time.
        true if address.scheme() == "http" => builder.no_proxy().tls_certs_only([]),
        true => builder.no_proxy(),
        false => builder,
    }
}

/// Whether an address is one of this machine.
pub(crate) fn is_loopback(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default();
    let ip: Result<IpAddr, _> = host.trim_matches(['[', ']']).parse();
    host == "localhost" || host.ends_with(".localhost") || ip.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_recognized_however_it_is_written() {
        let is_loopback = |host: &str| is_loopback(&Url::parse(&format!("http://{host}:5678/x")).unwrap());
        for host in ["localhost", "n8n.localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example.com", "10.0.0.1", "[::2]", "notlocalhost", "127.0.0.1.example.com"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
