use http::header::{HOST, TRANSFER_ENCODING};
use http::uri::Authority;
use http::{HeaderMap, Request, StatusCode, Version};

/// The most headers of a request: over HTTP/2 too, what hyper allows over HTTP/1.
const MAX_HEADERS: usize = 100;

/// Refuses requests that hyper lets pass, and that a proxy might understand in another way.
///
/// # Errors
/// The status of the refusal.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), StatusCode> {
    let headers = request.headers();
    if headers.len() > MAX_HEADERS {
        return Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    }
    let is_valid = match request.version() {
        Version::HTTP_2 => true,
        version => has_plain_coding(headers) && has_valid_host(headers, version),
    };
    if is_valid {
        Ok(())
    } else {
        Err(StatusCode::BAD_REQUEST)
    }
}

/// Returns whether the body has no transfer coding but `chunked`, once (RFC 9112, section 6.1).
fn has_plain_coding(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => coding.as_bytes().eq_ignore_ascii_case(b"chunked"),
        _ => false,
    }
}

/// Returns whether there is one Host header, empty or valid, or none before HTTP/1.1 (RFC 9112,
/// section 3.2).
fn has_valid_host(headers: &HeaderMap, version: Version) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => version < Version::HTTP_11,
        (Some(host), None) => {
            host.is_empty()
                || Authority::try_from(host.as_bytes())
                    .is_ok_and(|authority| !authority.as_str().contains('@'))
        }
        _ => false,
    }
}
