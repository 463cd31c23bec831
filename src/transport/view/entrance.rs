//! Access to the page.

use std::sync::Mutex;

use axum::Json;
use axum::http::header::{COOKIE, HeaderName, HeaderValue, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::notice;
use crate::secrets::Secret;
use crate::toolkit::Locale;
use crate::transport::guard::{Guard, Refusal};
use crate::transport::lock;

/// Advice for a browser without the cookie.
const MESSAGE: &str =
    "This page belongs to the browser that opened it first. Run n8n-lens view again for a new address.";

/// How the page is entered.
pub(super) enum Entrance {
    /// With the server's own token, if it requires one. A browser asks for it, as the password of any user (RFC 7617).
    Token,
    /// With a token that is valid for one browser, which receives a cookie for it.
    Once(Once),
}

pub(super) struct Once {
    /// `None` once it was used.
    token: Mutex<Option<Secret>>,
    /// Cancelled once it was used.
    used: CancellationToken,
    /// Cookies do not distinguish ports, so the name must.
    name: String,
    cookie: Secret,
}

/// Why the page is refused.
#[derive(Clone, Copy)]
pub(super) enum Refused {
    /// To a host or origin that is not allowed.
    Foreign,
    /// Without the server's token.
    Token,
    /// Without the cookie of the first browser.
    Cookie,
}

impl Entrance {
    /// An entrance for one browser: the entrance, its token, and a cancellation that fires when the token is used.
    ///
    /// # Errors
    /// The system has no random numbers. The message is a sentence.
    pub(super) fn once(port: u16) -> Result<(Self, Secret, CancellationToken), String> {
        let (token, cookie, used) = (random()?, random()?, CancellationToken::new());
        let name = format!("n8n-lens-{port}");
        let once = Once { token: Mutex::new(Some(token.clone())), used: used.clone(), name, cookie };
        Ok((Self::Once(once), token, used))
    }

    /// The cookie for a token, which cannot be used again.
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

    /// Why a request is not allowed, if so.
    pub(super) fn refusal(&self, guard: &Guard, headers: &HeaderMap) -> Option<Refused> {
        if guard.foreign(headers).is_some() {
            return Some(Refused::Foreign);
        }
        match self {
            Self::Token => (!guard.knows_token(headers)).then_some(Refused::Token),
            Self::Once(once) => (!once.knows(headers)).then_some(Refused::Cookie),
        }
    }
}

impl Refused {
    /// The response to a person who opens the page.
    pub(super) fn for_people(self, locale: Locale) -> Response {
        let sentence = match self {
            Self::Foreign => locale.choose(
                "このサーバーはこの名前では応答しません。別の名前を許可するには、--allowed-hosts を指定して起動してください。",
                "This server does not answer under this name. Start it with --allowed-hosts to allow another name.",
            ),
            Self::Token => locale.choose(
                "パスワードとして、このサーバーのトークンを入力してください（ユーザー名は任意）。再読み込みすると、もう一度入力できます。",
                "Enter the token of this server as the password, with any user name. Reload the page to be asked again.",
            ),
            Self::Cookie => locale.choose(
                "このページは、最初に開いたブラウザーだけのものです。n8n-lens view をもう一度実行して、新しいアドレスを開いてください。",
                MESSAGE,
            ),
        };
        self.challenged(notice::sentence(self.status(), locale, sentence))
    }

    fn status(self) -> StatusCode {
        match self {
            Self::Foreign => Refusal::Foreign.reason().0,
            Self::Token | Self::Cookie => StatusCode::UNAUTHORIZED,
        }
    }

    /// Makes a browser prompt for the token.
    fn challenged(self, mut response: Response) -> Response {
        if matches!(self, Self::Token) {
            let challenge = HeaderValue::from_static("Basic realm=\"n8n-lens\", charset=\"UTF-8\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

impl IntoResponse for Refused {
    /// The response to the page itself, and to programs.
    fn into_response(self) -> Response {
        let message = match self {
            Self::Foreign => return Refusal::Foreign.into_response(),
            Self::Token => Refusal::Unauthorized.reason().1,
            Self::Cookie => MESSAGE,
        };
        self.challenged((self.status(), Json(json!({"error": {"message": message}}))).into_response())
    }
}

impl Once {
    fn take(&self, given: &str) -> bool {
        let mut token = lock(&self.token);
        let is_right = token.as_ref().is_some_and(|token| token.is(given));
        if is_right {
            *token = None;
            self.used.cancel();
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
