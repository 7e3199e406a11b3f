//! What clients may keep, and how those who have it already are told so.

use std::hash::Hasher;

use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use twox_hash::XxHash64;

pub(super) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// To be kept, and asked for again before each use.
pub(super) const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
pub(super) const FOR_A_DAY: HeaderValue = HeaderValue::from_static("public, max-age=86400");
/// For what has its hash in its URL.
pub(super) const FOR_EVER: HeaderValue =
    HeaderValue::from_static("public, max-age=31536000, immutable");

/// A body that a client may keep, under a name that differs wherever the body does.
pub(super) struct Representation {
    content_type: HeaderValue,
    cache_control: HeaderValue,
    etag: HeaderValue,
    body: Bytes,
}

impl Representation {
    pub(super) fn new(
        content_type: HeaderValue,
        cache_control: HeaderValue,
        body: impl Into<Bytes>,
    ) -> Self {
        let body = body.into();
        let etag = format!("\"{:016x}\"", hash([&body[..]]));
        Self {
            content_type,
            cache_control,
            etag: HeaderValue::try_from(etag)
                .expect("quoted hexadecimal digits make a header value"),
            body,
        }
    }

    /// The body, or only the news that the client has it.
    pub(super) fn respond(&self, headers: &HeaderMap) -> Response {
        let caching = [
            (CACHE_CONTROL, self.cache_control.clone()),
            (ETAG, self.etag.clone()),
        ];
        if is_known(headers, &self.etag) {
            // The length is that of the body which is not sent (RFC 9110, section 8.6), also to HEAD.
            let length = [(CONTENT_LENGTH, HeaderValue::from(self.body.len()))];
            return (StatusCode::NOT_MODIFIED, caching, length).into_response();
        }
        let content_type = [(CONTENT_TYPE, self.content_type.clone())];
        (caching, content_type, self.body.clone()).into_response()
    }
}

/// Hashes these bytes by XXH64, which gives the same on every instance.
pub(super) fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hasher = XxHash64::with_seed(0);
    for part in parts {
        hasher.write(part);
    }
    hasher.finish()
}

/// Whether the client has this body already (RFC 9110, section 13.1.2).
fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let known = headers.get_all(IF_NONE_MATCH).iter();
    known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|known| known.trim().trim_start_matches("W/"))
        .any(|known| known == "*" || known.as_bytes() == etag.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the reference implementation.
    #[test]
    fn the_hash_is_xxh64_however_the_bytes_are_cut() {
        assert_eq!(hash([&b""[..]]), 0xef46_db37_51d8_e999);
        assert_eq!(hash([&b"abc"[..]]), 0x44bc_2cf5_ad77_0999);
        let text: Vec<u8> = (0..=255).collect();
        for cut in 0..text.len() {
            assert_eq!(hash([&text[..cut], &text[cut..]]), hash([&text[..]]));
        }
    }
}
