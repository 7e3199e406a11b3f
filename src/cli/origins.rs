//! `--cors-origin`: whose pages may use the API from a browser.

use std::str::FromStr;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method, Uri, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Origins with commas between; none where the text is empty.
#[derive(Clone, Debug)]
pub(super) struct Origins(Vec<HeaderValue>);

impl Origins {
    /// Returns the layer that lets pages of these origins use the API, if there are any.
    pub(super) fn layer(&self) -> Option<CorsLayer> {
        let allowed = match &self.0[..] {
            [] => return None,
            origins if origins.iter().any(|origin| origin == "*") => AllowOrigin::any(),
            origins => AllowOrigin::list(origins.iter().cloned()),
        };
        let exposed = [
            "x-request-id",
            "cache-status",
            "server-timing",
            "retry-after",
        ];
        let layer = CorsLayer::new()
            .allow_origin(allowed)
            .allow_methods([Method::GET, Method::POST])
            .allow_headers([
                header::CONTENT_TYPE,
                HeaderName::from_static("x-request-id"),
                HeaderName::from_static("traceparent"),
            ])
            .expose_headers(exposed.map(HeaderName::from_static))
            .max_age(Duration::from_hours(24));
        Some(layer)
    }
}

impl FromStr for Origins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let origins = text
            .split(',')
            .map(str::trim)
            .filter(|origin| !origin.is_empty());
        origins.map(origin).collect::<Result<_, _>>().map(Self)
    }
}

/// Parses `*`, or an origin exactly as browsers send it: anything else would never match.
fn origin(text: &str) -> Result<HeaderValue, String> {
    if text != "*" && text.contains('*') {
        return Err(format!(
            "expected an origin without a wildcard, found {text}; list every origin, or write * \
             alone for all"
        ));
    }
    let sent = if text == "*" {
        text.to_owned()
    } else {
        sent_origin(text).ok_or_else(|| {
            format!("expected * or an origin such as https://example.org, found {text}")
        })?
    };
    if sent != text {
        return Err(format!(
            "expected an origin as browsers send it, found {text}; write {sent}"
        ));
    }
    HeaderValue::try_from(sent).map_err(|error| error.to_string())
}

/// Returns the origin of a URL as browsers send it, or `None` if it has none.
///
/// It is a scheme, a host and a port other than the scheme's default, in lower case.
fn sent_origin(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let authority = uri.authority()?;
    let host = authority.host().to_ascii_lowercase();
    let port = match (scheme.as_str(), authority.port_u16()) {
        (_, None) | ("http", Some(80)) | ("https", Some(443)) => String::new(),
        (_, Some(port)) => format!(":{port}"),
    };
    Some(format!("{scheme}://{host}{port}"))
}
