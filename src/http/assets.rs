//! `GET /assets/{version}/{name}`: what the pages are made of, besides their HTML.
//!
//! The version is the hash of all of them, so that they may be kept for ever, and so that modules
//! import each other by plain names.

use std::sync::LazyLock;

use axum::response::Response;
use http::{HeaderMap, HeaderValue};

use super::caching::{self, FOR_EVER, Representation};
use super::extract::Path;
use super::problem::{Code, Problem};

/// Names and contents of the given files of the folder `assets`.
macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../assets/", $name)))),*]
    };
}

const FILES: &[(&str, &str)] = &files!(
    "address.mjs" "api.mjs" "attempt.mjs" "board.mjs" "boards.mjs" "census.mjs" "coach.mjs"
    "console.mjs" "dom.mjs" "game.mjs" "gestures.mjs" "icon.svg" "learn.mjs" "main.mjs"
    "paint.mjs" "player.mjs" "plots.mjs" "rules.mjs" "style.css"
    "text.css"
);

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let contents = FILES.iter().map(|(_, content)| content.as_bytes());
    format!("{:016x}", caching::hash(contents))
});

static ASSETS: LazyLock<Vec<Representation>> = LazyLock::new(|| {
    let assets = FILES
        .iter()
        .map(|&(name, content)| Representation::new(content_type(name), FOR_EVER, content));
    assets.collect()
});

/// Returns the path of the folder of the assets, relative to `/`.
pub(super) fn folder() -> String {
    format!("assets/{}", *VERSION)
}

/// `GET /assets/{version}/{name}`.
pub(super) async fn asset(
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    FILES
        .iter()
        .position(|&(known, _)| known == name && *VERSION == version)
        .map(|index| ASSETS[index].respond(&headers))
        .ok_or_else(|| Problem::new(Code::NotFound, "no asset has this name and version"))
}

fn content_type(name: &str) -> HeaderValue {
    HeaderValue::from_static(match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("mjs") => "text/javascript; charset=utf-8",
        _ => "image/svg+xml",
    })
}
