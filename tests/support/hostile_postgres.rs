//! A server at a `postgres://` address that is silent, or sends more than requested.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// The behaviour of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// Accepts connections, and sends nothing.
    Silent,
    /// Accepts any login, and sends nothing more.
    SilentAfterLogin,
    /// Answers the first request, and sends nothing more.
    SilentAfterBegin,
    /// Announces a message of 2 GB and sends it: before the login, or as a row.
    LargeMessage,
    LargeRow,
    /// Sends small messages without end.
    Chatter,
}

/// A message of the protocol.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind], length.as_slice(), body].concat()
}

impl Server {
    /// Starts it; returns its address.
    pub fn start(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://lens@{}/n8n", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                // It ends with an error when the client leaves.
                std::thread::spawn(move || client.and_then(|client| self.serve(client)));
            }
        });
        url
    }

    fn serve(self, mut client: TcpStream) -> std::io::Result<()> {
        let mut request = [0; 4096];
        if client.read(&mut request)? == 0 {
            return Ok(());
        }
        let ready = |state| message(b'Z', &[state]);
        match self {
            Self::Silent => {}
            Self::LargeMessage => Self::pour(&mut client, b'E')?,
            _ => client.write_all(&[message(b'R', &[0; 4]), ready(b'I')].concat())?,
        }
        while client.read(&mut request)? > 0 {
            match (self, request[0]) {
                (Self::Silent | Self::SilentAfterLogin, _) => {}
                (Self::LargeRow, _) => Self::pour(&mut client, b'D')?,
                (Self::Chatter, _) => loop {
                    client.write_all(&message(b'S', b"a\0b\0").repeat(1000))?;
                },
                (_, b'Q') => client.write_all(&[message(b'C', b"BEGIN\0"), ready(b'T')].concat())?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Sends a message of 2 GB.
    fn pour(client: &mut TcpStream, kind: u8) -> std::io::Result<()> {
        client.write_all(&[&[kind], i32::MAX.to_be_bytes().as_slice()].concat())?;
        let piece = vec![0; 1024 * 1024];
        (0..2048).try_for_each(|_| client.write_all(&piece))
    }
}
