//! TLS to PostgreSQL as n8n's own variables say.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::ConfigVerifierExt;

use crate::secrets::Secret;
use crate::store::Error;
use crate::store::variables::Variables;

/// How the connection is encrypted.
#[derive(Clone, Default)]
pub(super) struct Tls {
    /// Certificates to trust instead of the system's, PEM.
    authority: Option<String>,
    /// Our certificate, PEM.
    certificate: Option<String>,
    /// Its private key, PEM.
    key: Option<Secret>,
    /// Whether any certificate of the server is accepted.
    accepts_any: bool,
}

impl Tls {
    /// n8n encrypts if this is set, or if any other of these variables is set (`DB_POSTGRESDB_SSL_*`).
    pub(super) fn from_variables(variables: &Variables) -> Result<Option<Self>, String> {
        let value = |name: &str| variables.get(&format!("DB_POSTGRESDB_SSL_{name}"));
        let tls = Self {
            authority: value("CA")?,
            certificate: value("CERT")?,
            key: variables.secret("DB_POSTGRESDB_SSL_KEY")?,
            accepts_any: !variables.flag("DB_POSTGRESDB_SSL_REJECT_UNAUTHORIZED", true)?,
        };
        let is_on = variables.flag("DB_POSTGRESDB_SSL_ENABLED", false)?
            || tls.accepts_any
            || tls.authority.is_some()
            || tls.certificate.is_some()
            || tls.key.is_some();
        Ok(is_on.then_some(tls))
    }

    /// The settings of rustls.
    pub(super) fn client_config(&self) -> Result<ClientConfig, Error> {
        crate::tls::use_ring();
        let failed = |what: &str| Error::Tls(what.to_owned());
        if self.authority.is_none() && self.certificate.is_none() && !self.accepts_any {
            return ClientConfig::with_platform_verifier().map_err(|error| failed(&error.to_string()));
        }
        let builder = ClientConfig::builder();
        let builder = if self.accepts_any {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(Arc::new(ring::default_provider()))))
        } else {
            builder.with_root_certificates(self.roots()?)
        };
        match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                let chain = certificates(certificate).ok_or_else(|| failed("DB_POSTGRESDB_SSL_CERT is not PEM"))?;
                let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes());
                let key = key.map_err(|_| failed("DB_POSTGRESDB_SSL_KEY is not PEM"))?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|_| failed("DB_POSTGRESDB_SSL_KEY does not fit _SSL_CERT"))
            }
            _ => Ok(builder.with_no_client_auth()),
        }
    }

    fn roots(&self) -> Result<RootCertStore, Error> {
        let pem = self.authority.as_deref().unwrap_or_default();
        let unfit = || Error::Tls("DB_POSTGRESDB_SSL_CA contains no certificate in PEM".to_owned());
        let mut roots = RootCertStore::empty();
        for certificate in certificates(pem).ok_or_else(unfit)? {
            roots.add(certificate).map_err(|_| unfit())?;
        }
        Ok(roots)
    }
}

/// The certificates of a PEM text; `None` if there are none.
fn certificates(pem: &str) -> Option<Vec<CertificateDer<'static>>> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().ok()?;
    Some(certificates).filter(|certificates| !certificates.is_empty())
}

/// Accepts every certificate: `DB_POSTGRESDB_SSL_REJECT_UNAUTHORIZED=false`.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
