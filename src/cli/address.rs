use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

use tokio::net::lookup_host;

/// A port, and a host by its name or its IP address.
#[derive(Clone, Debug)]
pub(super) struct Address(String);

impl Address {
    /// What an address looks like, for error messages.
    pub(super) const EXAMPLES: &str =
        "an address such as 127.0.0.1:8080, [::1]:8080, localhost:8080, :8080 or 8080";

    /// Returns the socket addresses of the host, those of IPv4 first.
    ///
    /// The order is what makes `localhost` the default host, 127.0.0.1, on every system.
    pub(super) async fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        let mut addresses: Vec<_> = lookup_host(&self.0).await?.collect();
        addresses.sort_by_key(SocketAddr::is_ipv6);
        Ok(addresses)
    }
}

impl FromStr for Address {
    type Err = String;

    /// Parses `HOST:PORT`, `:PORT` for every IPv4 interface, or `PORT` for 127.0.0.1.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.parse::<SocketAddr>().is_ok() {
            return Ok(Self(text.to_owned()));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some(("", port)) => (Ipv4Addr::UNSPECIFIED.to_string(), port),
            Some((host, port)) => (host.to_owned(), port),
            None => (Ipv4Addr::LOCALHOST.to_string(), text),
        };
        let is_name = host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        match port.parse::<u16>() {
            Ok(port) if is_name && is_port => Ok(Self(format!("{host}:{port}"))),
            _ => Err(format!("expected {}, found {text}", Self::EXAMPLES)),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
