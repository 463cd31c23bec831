//! TLS, through the command line, where the trusted certificate can be set.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::NamedTempFile;

use super::proxy::{Fault, ProxiedRequest, Proxy};
use super::{Framing, SUMMARY, WHOLE, Wire, every_attempt, id, n8n, named};
use crate::mcp_client::KEY;
use crate::server::{Reply, Server};

/// A self-signed certificate and its key.
struct Identity {
    config: Arc<ServerConfig>,
    certificate: NamedTempFile,
}

/// Creates a certificate for one host that is valid until a year.
fn identity(host: &str, until: i32) -> Identity {
    let mut parameters = CertificateParams::new(vec![host.to_owned()]).unwrap();
    parameters.not_before = date_time_ymd(2000, 1, 1);
    parameters.not_after = date_time_ymd(until, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], private).unwrap();
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(certificate.pem().as_bytes()).unwrap();
    Identity { config: Arc::new(config), certificate: file }
}

const HOST: &str = "127.0.0.1";

/// The summary of an execution, with one trusted certificate.
fn summary(url: &str, trusted: &Path, id: &str) -> Result<String, String> {
    let output = Command::new(crate::support::binary())
        .args(["--log-level", "error", "summary", id])
        .env_clear()
        .envs([("N8N_URL", url), ("N8N_API_KEY", KEY)])
        .env("SSL_CERT_FILE", trusted)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

#[test]
fn only_a_trusted_and_valid_certificate_of_this_host_is_accepted() {
    let good = identity(HOST, 2090);
    let (stranger, expired, elsewhere) =
        (identity(HOST, 2090), identity(HOST, 2020), identity("n8n.example.com", 2090));
    for (served, trusted, taken) in
        [(&good, &good, true), (&good, &stranger, false), (&expired, &expired, false), (&elsewhere, &elsewhere, false)]
    {
        let n8n = n8n(Framing::Length);
        let proxy = Proxy::start_tls(&n8n.url(), Arc::clone(&served.config), |_| Fault::None);
        let answer = summary(&proxy.url(), trusted.certificate.path(), &id(0));
        assert_eq!(answer.is_ok(), taken, "{answer:?}");
        assert_eq!(n8n.requests().len(), usize::from(taken), "no request without a handshake");
        if let Err(said) = answer {
            assert!(said.contains("invalid peer certificate") && said.contains("3 times"), "{said}");
        }
    }
}

#[test]
fn a_port_without_tls_is_reported() {
    let n8n = n8n(Framing::Length);
    let trusted = identity(HOST, 2090);
    // The response of n8n without TLS to a hello, an alert, and no response.
    for answer in [&b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"[..], b"\x16\x03\x03\xff\xff", b""] {
        let plan = move |_: &ProxiedRequest| match answer {
            b"" => Fault::CutAfter(0),
            _ => Fault::Insert(0, answer.to_vec()),
        };
        let proxy = Proxy::tunnel(&n8n.url(), plan);
        let url = proxy.url().replace("http://", "https://");
        let said = summary(&url, trusted.certificate.path(), &id(0)).unwrap_err();
        assert!(said.contains(&format!("n8n at {url} could not be reached")), "{said}");
        assert!(n8n.requests().is_empty());
    }
}

/// Position 1 is cut after a thousand bytes of the body; position 2 is complete, but without a `close_notify`.
fn without_a_close_notify(sent: Framing) -> [Result<String, String>; 3] {
    let n8n = n8n(sent);
    let end = Wire::of(&n8n, SUMMARY).head as u64 + 1000;
    let identity = identity(HOST, 2090);
    let plan = every_attempt(move |position| Fault::CutAfter(if position == 1 { end } else { u64::MAX }));
    let front = Proxy::start_tls(&n8n.url(), Arc::clone(&identity.config), plan);
    [WHOLE, 1, 2].map(|position| summary(&front.url(), identity.certificate.path(), &id(position)))
}

#[test]
fn an_encrypted_body_without_a_length_needs_a_close_notify() {
    let length = Wire::of(&n8n(Framing::UntilClose), SUMMARY).length();
    let [whole, cut, silent] = without_a_close_notify(Framing::UntilClose);
    assert!(whole.is_ok(), "{whole:?}");
    assert_eq!(cut.as_deref().map_err(|said| named(said)), Err(Some(1000)), "{cut:?}");
    assert_eq!(silent.as_deref().map_err(|said| named(said)), Err(Some(length)), "{silent:?}");
    let [whole, cut, silent] = without_a_close_notify(Framing::Length);
    assert_eq!(
        silent.unwrap(),
        whole.unwrap().replace(&id(WHOLE), &id(2)),
        "the length shows that the body is complete"
    );
    assert_eq!(cut.as_deref().map_err(|said| named(said)), Err(Some(1000)), "{cut:?}");
}

#[test]
fn the_key_is_never_redirected_out_of_tls() {
    let plain = n8n(Framing::Length);
    let target = format!("{}/api/v1/executions/1", plain.url());
    let n8n = Server::start(move |_| Reply::json(302, "").header("Location", &target));
    let identity = identity(HOST, 2090);
    let front = Proxy::start_tls(&n8n.url(), Arc::clone(&identity.config), |_| Fault::None);
    let said = summary(&front.url(), identity.certificate.path(), "1").unwrap_err();
    assert!(said.contains("must not follow"), "{said}");
    assert!(plain.requests().is_empty() && n8n.requests().len() == 1);
}

#[test]
#[ignore = "long"]
fn a_stalled_tls_handshake_is_given_up() {
    let n8n = n8n(Framing::Length);
    let identity = identity(HOST, 2090);
    let front = Proxy::start_tls(&n8n.url(), Arc::clone(&identity.config), |_| Fault::None);
    let tunnel = Proxy::tunnel(&front.url(), |_| Fault::StallAfter(100));
    let begun = Instant::now();
    let said = summary(&tunnel.url(), identity.certificate.path(), &id(0)).unwrap_err();
    assert!(said.contains("could not be reached"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_broken_connection_is_reported_without_its_url() {
    let [_, cut, _] = without_a_close_notify(Framing::UntilClose);
    let said = cut.unwrap_err();
    assert!(said.contains("broke off at byte 1000") && !said.contains("://"), "{said}");
}

/// Cuts at every byte.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 5 s"]
    fn a_connection_over_tls_that_is_cut_anywhere() {
        let n8n = n8n(Framing::Length);
        let identity = identity(HOST, 2090);
        let front = Proxy::start_tls(&n8n.url(), Arc::clone(&identity.config), |_| Fault::None);
        let ask = |url: &str| summary(url, identity.certificate.path(), &id(0));
        let right = ask(&front.url()).unwrap();
        let cut_after = &|bytes: u64| {
            let tunnel = Proxy::tunnel(&front.url(), move |_| Fault::CutAfter(bytes));
            ask(&tunnel.url())
        };
        // The handshake has about a thousand bytes, the response four thousand.
        let positions: Vec<_> = (0..16).map(|step| step * 375).chain([1_000_000]).collect();
        let mut answers = Vec::new();
        for positions in positions.chunks(8) {
            thread::scope(|scope| {
                let calls: Vec<_> =
                    positions.iter().map(|&position| scope.spawn(move || cut_after(position))).collect();
                answers.extend(calls.into_iter().map(|call| call.join().unwrap()));
            });
        }
        let mut counts = [0; 3];
        for (position, answer) in positions.iter().zip(answers) {
            match answer {
                Ok(answer) => {
                    assert_eq!(answer, right, "wrong, cut after {position}");
                    counts[0] += 1;
                }
                Err(said) if said.contains("broke off at byte ") => counts[1] += 1,
                Err(said) => {
                    assert!(said.contains("could not be reached"), "cut after {position}: {said}");
                    counts[2] += 1;
                }
            }
        }
        // The body can be one record, which is not decrypted before its end.
        assert!(counts[0] > 0 && counts[2] > 0, "whole, cut in the body, cut before it: {counts:?}");
    }
}
