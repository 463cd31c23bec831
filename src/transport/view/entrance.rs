//! Who may see the page.

use std::sync::Mutex;

use axum::Json;
use axum::http::header::{COOKIE, HeaderName, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::json;

use crate::secrets::Secret;
use crate::transport::guard::{Guard, Refusal};
use crate::transport::lock;

/// How the page is entered.
pub(super) enum Entrance {
    /// With the server's own token, if it requires one. A browser asks for it, as the password of any user (RFC 7617).
    Token,
    /// With a token that is good for one browser, which gets a cookie for it.
    Once(Once),
}

pub(super) struct Once {
    /// `None` once it was used.
    token: Mutex<Option<Secret>>,
    /// Cookies do not tell ports apart, so that the name has to.
    name: String,
    cookie: Secret,
}

impl Entrance {
    /// An entrance for one browser, and its token.
    ///
    /// # Errors
    /// The system has no random numbers. The message is a sentence.
    pub(super) fn once(port: u16) -> Result<(Self, Secret), String> {
        let (token, cookie) = (random()?, random()?);
        let once = Once { token: Mutex::new(Some(token.clone())), name: format!("n8n-lens-{port}"), cookie };
        Ok((Self::Once(once), token))
    }

    /// The cookie for a token. Nobody else can use the token again.
    pub(super) fn exchange(
        &self,
        guard: &Guard,
        headers: &HeaderMap,
        token: &str,
    ) -> Option<[(HeaderName, String); 1]> {
        let Self::Once(once) = self else { return None };
        if guard.foreign(headers).is_some() || !once.take(token) {
            return None;
        }
        let (name, value) = (&once.name, once.cookie.expose());
        Some([(SET_COOKIE, format!("{name}={value}; Path=/view; HttpOnly; SameSite=Strict"))])
    }

    /// Why a request is not allowed, if it is not.
    pub(super) fn refusal(&self, guard: &Guard, headers: &HeaderMap) -> Option<Response> {
        if let Some(foreign) = guard.foreign(headers) {
            return Some(foreign.into_response());
        }
        match self {
            Self::Token if guard.knows_token(headers) => None,
            Self::Token => {
                let challenge = [(WWW_AUTHENTICATE, "Basic realm=\"n8n-lens\", charset=\"UTF-8\"")];
                let (status, message) = Refusal::Unauthorized.reason();
                Some((status, challenge, Json(json!({"error": {"message": message}}))).into_response())
            }
            Self::Once(once) if once.knows(headers) => None,
            Self::Once(_) => {
                const MESSAGE: &str = "This page belongs to the browser that opened it first. Run n8n-lens view again for a \
                                       new address.";
                Some((StatusCode::UNAUTHORIZED, Json(json!({"error": {"message": MESSAGE}}))).into_response())
            }
        }
    }
}

impl Once {
    fn take(&self, given: &str) -> bool {
        let mut token = lock(&self.token);
        let is_right = token.as_ref().is_some_and(|token| token.is(given));
        if is_right {
            *token = None;
        }
        is_right
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.name && self.cookie.is(value))
    }
}

/// 256 random bits, as text.
fn random() -> Result<Secret, String> {
    let mut bits = [0; 32];
    let filled = SystemRandom::new().fill(&mut bits);
    filled.map_err(|_| "The page cannot be served: the system has no random numbers.".to_owned())?;
    Ok(Secret::new(bits.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}
