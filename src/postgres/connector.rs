//! Wraps the stream of a connection, encrypted or not.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;

use tokio_postgres::Socket;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::Limits;
use super::guard::Guarded;

type RustlsConnect = <MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect;
type RustlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Does not encrypt.
pub(super) struct Plain {
    pub limits: Limits,
}

impl MakeTlsConnect<Socket> for Plain {
    type Stream = Guarded<Socket>;
    type TlsConnect = Self;
    type Error = Infallible;

    fn make_tls_connect(&mut self, _domain: &str) -> Result<Self, Infallible> {
        Ok(Self { limits: self.limits })
    }
}

impl TlsConnect<Socket> for Plain {
    type Stream = Guarded<Socket>;
    type Error = Infallible;
    type Future = Ready<Result<Guarded<Socket>, Infallible>>;

    fn connect(self, stream: Socket) -> Self::Future {
        ready(Ok(Guarded::plain(stream, self.limits)))
    }
}

/// Encrypts with rustls.
pub(super) struct Encrypted {
    pub tls: MakeRustlsConnect,
    pub limits: Limits,
}

/// Encrypts one connection.
pub(super) struct EncryptedConnect {
    tls: RustlsConnect,
    limits: Limits,
}

impl MakeTlsConnect<Socket> for Encrypted {
    type Stream = Guarded<RustlsStream>;
    type TlsConnect = EncryptedConnect;
    type Error = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<EncryptedConnect, Self::Error> {
        let tls = MakeTlsConnect::<Socket>::make_tls_connect(&mut self.tls, domain)?;
        Ok(EncryptedConnect { tls, limits: self.limits })
    }
}

impl TlsConnect<Socket> for EncryptedConnect {
    type Stream = Guarded<RustlsStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Stream>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move { Ok(Guarded::encrypted(self.tls.connect(stream).await?, self.limits)) })
    }
}
