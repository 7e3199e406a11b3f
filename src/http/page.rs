//! `GET /`, and how all pages for people are sent.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::response::Response;
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderMap, HeaderValue};

use super::assets;
use super::caching::{NO_CACHE, Representation};
use super::problem::Code;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// Everything comes from here, and nothing is inline.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// A page for people.
pub(super) struct Page(Representation);

impl Page {
    /// Fills the places of a template, in this order; `{assets}` is the folder of the assets.
    fn new(template: &str, places: &[(&str, &str)]) -> Self {
        let html = template.replace("{assets}", &assets::folder());
        let html = places
            .iter()
            .fold(html, |html, (place, content)| html.replace(place, content));
        Self(Representation::new(HTML, NO_CACHE, html))
    }

    /// A page of text. `root` is the relative path from it to `/`. The others are HTML, the title
    /// and the description without tags.
    pub(super) fn of_text(root: &str, title: &str, description: &str, content: &str) -> Self {
        let places = [
            ("{root}", root),
            ("{title}", title),
            ("{description}", description),
            // The last one, since nothing in it is a place.
            ("{content}", content),
        ];
        Self::new(include_str!("../../assets/text.html"), &places)
    }

    pub(super) fn respond(&self, headers: &HeaderMap) -> Response {
        let mut response = self.0.respond(headers);
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, POLICY);
        response
    }
}

static HOME: LazyLock<Page> = LazyLock::new(|| {
    let places = [("{problems}", &*links_to_problems())];
    Page::new(include_str!("../../assets/index.html"), &places)
});

/// `GET /`.
pub(super) async fn home(headers: HeaderMap) -> Response {
    HOME.respond(&headers)
}

fn links_to_problems() -> String {
    Code::ALL.iter().fold(String::new(), |mut links, code| {
        let code = code.as_str();
        let _ = write!(links, "<li><a href=\"problems/{code}\">{code}</a></li>");
        links
    })
}
