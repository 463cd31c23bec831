//! The cryptography of every TLS connection: ring.

/// Makes ring the provider of this process, unless it has one already. Call it before the first TLS connection is set up.
pub(crate) fn use_ring() {
    // It fails if a provider is installed already, which is fine: then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
