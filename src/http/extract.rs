//! What handlers take from a request, with every refusal a [`Problem`].

use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Request};
use futures_util::StreamExt;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, StatusCode};
use mime::Mime;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_path_to_error::Segment;

use super::AppState;
use super::json::Object;
use super::problem::{Code, FieldError, Problem};
use crate::puzzle::BYTE_ORDER_MARK;

/// The most bytes of a body that are read: a board as an array with generous spaces, and then some.
const BODY_LIMIT: usize = 4 * 1024;

/// A body that is a JSON object.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<AppState> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        check_is_json(request.headers())?;
        let body = read(request.into_body(), state.0.body_timeout).await?;
        let json = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&body);
        parse::<Object<T>>(json).map(|Object(body)| Self(body))
    }
}

/// A request whose `Accept` header does not rule out JSON.
pub(super) struct AcceptsJson;

impl<S: Sync> FromRequestParts<S> for AcceptsJson {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        check_accepts(&parts.headers, "application/json").map(|()| Self)
    }
}

/// A request whose body has no content coding.
pub(super) struct NotEncoded;

impl<S: Sync> FromRequestParts<S> for NotEncoded {
    type Rejection = ([(HeaderName, &'static str); 1], Problem);

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let values = parts.headers.get_all(CONTENT_ENCODING).iter();
        let is_identity = |coding: &[u8]| {
            let coding = coding.trim_ascii();
            coding.is_empty() || coding.eq_ignore_ascii_case(b"identity")
        };
        if values
            .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
            .all(is_identity)
        {
            return Ok(Self);
        }
        // Only a refusal because of the coding has this header (RFC 9110, section 12.5.3).
        let detail = "the body has a Content-Encoding; send it without one";
        let problem = Problem::new(Code::UnsupportedMediaType, detail);
        Err(([(ACCEPT_ENCODING, "identity")], problem))
    }
}

/// What the pattern of a path leaves open.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(path)) => Ok(Self(path)),
            // Such as bytes that are no text.
            Err(_) => Err(problem_of_status(StatusCode::NOT_FOUND)),
        }
    }
}

/// What stands behind the `?` of a URL.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(pairs))
            .map(Self)
            .map_err(|error| {
                Problem::invalid_request(vec![FieldError {
                    pointer: pointer(error.path()),
                    detail: error.inner().to_string(),
                }])
            })
    }
}

/// Refuses what is neither `application/json` nor of a type that ends in `+json`. Parameters, such
/// as a charset, make no difference: JSON is UTF-8.
fn check_is_json(headers: &HeaderMap) -> Result<(), Problem> {
    const WANTED: &str = "send it with Content-Type: application/json";
    if headers.get(CONTENT_TYPE) == Some(&super::JSON) {
        return Ok(());
    }
    let refuse = |what: &str| Err(Problem::new(Code::UnsupportedMediaType, what));
    if !headers.contains_key(CONTENT_TYPE) {
        return refuse(&format!("the body has no Content-Type; {WANTED}"));
    }
    match media_type(headers) {
        Some(mime)
            if mime.essence_str() == "application/json" || mime.suffix() == Some(mime::JSON) =>
        {
            Ok(())
        }
        Some(mime) => refuse(&format!("the body is {}; {WANTED}", mime.essence_str())),
        None => refuse(&format!("the Content-Type cannot be read; {WANTED}")),
    }
}

/// The type of a body, where it can be read.
pub(super) fn media_type(headers: &HeaderMap) -> Option<Mime> {
    headers.get(CONTENT_TYPE)?.to_str().ok().and_then(read_mime)
}

/// Reads a media type or range; unlike the parser, RFC 9110 allows spaces around its semicolons.
fn read_mime(text: &str) -> Option<Mime> {
    let parts: Vec<&str> = text.split(';').map(str::trim).collect();
    parts.join(";").parse().ok()
}

async fn read(body: Body, timeout: Duration) -> Result<Vec<u8>, Problem> {
    let too_large = || {
        let detail = format!("the body is larger than {BODY_LIMIT} bytes");
        Problem::new(Code::PayloadTooLarge, detail)
    };
    // Where the length is announced, no byte need come to see that there are too many.
    if body.size_hint().lower() > BODY_LIMIT as u64 {
        return Err(too_large());
    }
    let mut frames = body.into_data_stream();
    let read = async {
        // Frames are copied: a small one may be a slice of a large buffer.
        let mut body = Vec::new();
        while let Some(frame) = frames.next().await {
            let frame = frame.map_err(|_| {
                Problem::new(Code::MalformedJson, "the body broke off before its end")
            })?;
            if body.len() + frame.len() > BODY_LIMIT {
                return Err(too_large());
            }
            body.extend_from_slice(&frame);
        }
        Ok(body)
    };
    tokio::time::timeout(timeout, read)
        .await
        .unwrap_or_else(|_| {
            let timeout = humantime::format_duration(timeout);
            let detail = format!("the body did not arrive within {timeout}");
            Err(Problem::new(Code::RequestTimeout, detail))
        })
}

/// Reads JSON; an error tells the place.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    // To keep track of the place costs as much as reading, so that is done where there is an error.
    match serde_json::from_slice(body) {
        Ok(value) => Ok(value),
        Err(_) => parse_tracked(body),
    }
}

fn parse_tracked<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value: T =
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            match error.inner().classify() {
                Category::Data => Problem::invalid_request(vec![FieldError {
                    pointer: pointer(error.path()),
                    detail: without_position(&error.inner().to_string()),
                }]),
                Category::Syntax | Category::Eof | Category::Io => malformed(error.inner()),
            }
        })?;
    deserializer.end().map_err(|error| malformed(&error))?;
    Ok(value)
}

fn malformed(error: &serde_json::Error) -> Problem {
    Problem::new(Code::MalformedJson, error.to_string())
}

/// The pointer says better where it is.
fn without_position(message: &str) -> String {
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message.to_owned(),
    }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    let segments = path.iter().map(|segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    });
    segments.collect()
}

/// Refuses a request whose `Accept` header rules out `offered`.
pub(super) fn check_accepts(headers: &HeaderMap, offered: &str) -> Result<(), Problem> {
    // What nearly all clients send needs no parsing.
    let mut values = headers.get_all(ACCEPT).iter();
    match (values.next(), values.next()) {
        (None, _) => return Ok(()),
        (Some(accept), None) if accept == "*/*" || accept == offered => return Ok(()),
        _ => {}
    }
    let mut ranges = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .peekable();
    // Without the header, or with an empty one, anything goes.
    if ranges.peek().is_none() {
        return Ok(());
    }
    // Of the ranges that match, the most specific one decides.
    let best = ranges
        .filter_map(read_mime)
        .filter_map(|range| specificity(&range, offered).map(|specificity| (specificity, range)))
        .max_by_key(|&(specificity, _)| specificity);
    match best {
        Some((_, range)) if !is_ruled_out(&range) => Ok(()),
        _ => Err(Problem::new(
            Code::NotAcceptable,
            format!("the answer is {offered}, which the Accept header rules out"),
        )),
    }
}

fn specificity(range: &Mime, offered: &str) -> Option<u8> {
    let offered_type = offered.split('/').next();
    if range.essence_str() == offered {
        Some(2)
    } else if offered_type == Some(range.type_().as_str()) && range.subtype() == mime::STAR {
        Some(1)
    } else if range.type_() == mime::STAR {
        Some(0)
    } else {
        None
    }
}

fn is_ruled_out(range: &Mime) -> bool {
    range
        .get_param("q")
        .and_then(|q| q.as_str().parse::<f32>().ok())
        .is_some_and(|q| q <= 0.0)
}

/// What a status that axum itself answered stands for.
pub(super) fn problem_of_status(status: StatusCode) -> Problem {
    match status {
        StatusCode::NOT_FOUND => Problem::new(Code::NotFound, "no resource has this path"),
        StatusCode::METHOD_NOT_ALLOWED => Problem::new(
            Code::MethodNotAllowed,
            "this resource does not have this method; see the Allow header",
        ),
        _ => Problem::new(Code::Internal, "the request could not be answered"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use rstest::rstest;

    #[rstest]
    #[case(None, true)]
    #[case(Some(""), true)]
    #[case(Some("*/*"), true)]
    #[case(Some("application/json"), true)]
    #[case(Some("application/*;q=0.5"), true)]
    #[case(Some("text/html, application/xhtml+xml, */*;q=0.8"), true)]
    #[case(Some("application/json; charset=utf-8"), true)]
    #[case(Some("text/html"), false)]
    #[case(Some("application/json;q=0"), false)]
    #[case(Some("application/json;q=0, */*"), false)]
    #[case(Some("*/*;q=0, application/json"), true)]
    #[case(Some("nonsense"), false)]
    fn the_accept_header_decides(#[case] accept: Option<&'static str>, #[case] expected: bool) {
        let mut headers = HeaderMap::new();
        if let Some(accept) = accept {
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
        }
        let accepted = check_accepts(&headers, "application/json").is_ok();
        assert_eq!(accepted, expected, "{accept:?}");
    }

    #[test]
    fn several_accept_headers_count_as_one() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT, HeaderValue::from_static("text/html"));
        headers.append(ACCEPT, HeaderValue::from_static("application/json"));
        assert!(check_accepts(&headers, "application/json").is_ok());
    }
}
