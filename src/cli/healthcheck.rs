use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use axum::body::Body;
use http::header::HOST;
use http::{Request, StatusCode};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::time::timeout;

use super::Failure;
use super::address::Address;
use super::serve::DEFAULT_ADDRESS;

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Ask the server at --listen whether it is ready: status 0 if so, else 1
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where the server listens
    #[arg(long, value_name = "ADDRESS", default_value = DEFAULT_ADDRESS, env = "ROTATION_GAME_LISTEN")]
    listen: Address,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let unhealthy = |source| Failure::Unhealthy {
        address: args.listen.clone(),
        source,
    };
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(unhealthy)?;
    let result = runtime.block_on(async { timeout(PATIENCE, readiness(&args.listen)).await });
    // Dropping it would wait for the lookup of a name.
    runtime.shutdown_background();
    let status = result
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .map_err(unhealthy)?;
    if status == StatusCode::OK {
        return Ok(());
    }
    Err(unhealthy(io::Error::other(format!("it answered {status}"))))
}

/// Uses loopback for an unspecified address.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

async fn readiness(address: &Address) -> io::Result<StatusCode> {
    let addresses: Vec<_> = address
        .resolve()
        .await?
        .into_iter()
        .map(reachable)
        .collect();
    let stream = TcpStream::connect(&addresses[..]).await?;
    let address = stream.peer_addr()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let request = Request::get("/readyz")
        .header(HOST, address.to_string())
        .body(Body::empty())
        .map_err(io::Error::other)?;
    let response = sender.send_request(request).await;
    connection.abort();
    Ok(response.map_err(io::Error::other)?.status())
}
