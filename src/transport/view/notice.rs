//! Pages for a person whose browser may not see the page, or not yet. They need no other file.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::toolkit::Locale;

/// A page with a sentence. Neither contains anything from a request.
pub(super) fn sentence(status: StatusCode, locale: Locale, sentence: &str) -> Response {
    page(status, locale, &format!("<p>{sentence}</p>"))
}

/// A page that redirects to the page itself, keeping the fragment of its address.
pub(super) fn entering(locale: Locale) -> Response {
    let script = "<script src=\"enter.js\"></script>";
    let needs = locale.choose("このページには JavaScript が必要です。", "This page needs JavaScript.");
    page(StatusCode::OK, locale, &format!("{script}<noscript>{needs}</noscript>"))
}

fn page(status: StatusCode, locale: Locale, body: &str) -> Response {
    let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    let language = locale.choose("ja", "en");
    let html = format!(
        "<!doctype html>\n<html lang=\"{language}\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>n8n-lens</title>\n{body}\n</html>\n"
    );
    (status, headers, html).into_response()
}

/// The language that a browser asks for first, if it is one of ours.
pub(super) fn preferred(headers: &HeaderMap) -> Locale {
    let languages = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match languages.trim_start().get(..2) {
        Some(first) if first.eq_ignore_ascii_case("ja") => Locale::Ja,
        _ => Locale::En,
    }
}
