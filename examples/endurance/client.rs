use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, HOST, HeaderName};
use http::{HeaderMap, Method, Request, StatusCode, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::Result;

/// How long a client waits for an answer. A request that is not answered by then never is.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// The path in openapi.yaml.
    pub(crate) route: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(HeaderName, String)>,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn new(method: Method, route: &'static str, path: impl Into<String>) -> Self {
        Self {
            method,
            route,
            path: path.into(),
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }

    pub(crate) fn get(route: &'static str, path: impl Into<String>) -> Self {
        Self::new(Method::GET, route, path)
    }

    pub(crate) fn post(route: &'static str, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self {
            body: body.into(),
            ..Self::new(Method::POST, route, route)
        }
        .with(CONTENT_TYPE, content_type)
    }

    /// A request for a solution.
    pub(crate) fn solve(body: &serde_json::Value) -> Self {
        Self::post("/solve", "application/json", body.to_string())
    }

    pub(crate) fn with(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn request(&self, address: SocketAddr, protocol: Version) -> Result<Request<Full<Bytes>>> {
        let mut request = Request::builder().method(&self.method);
        request = if protocol == Version::HTTP_2 {
            request.uri(format!("http://{address}{}", self.path))
        } else {
            request.uri(&self.path).header(HOST, address.to_string())
        };
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        Ok(request.body(Full::new(self.body.clone()))?)
    }
}

/// What comes back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: impl http::header::AsHeaderName) -> &str {
        let value = self.headers.get(name).and_then(|it| it.to_str().ok());
        value.unwrap_or_default()
    }
}

/// A client with one connection, which it opens when it needs one.
pub(crate) struct Client {
    address: SocketAddr,
    protocol: Version,
    connection: Option<Connection>,
}

struct Connection {
    sender: Sender,
    /// Moves the bytes, and closes the connection when its last owner is dropped.
    _driver: Arc<AbortOnDropHandle<()>>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Client {
    pub(crate) fn new(address: SocketAddr, protocol: Version) -> Self {
        Self {
            address,
            protocol,
            connection: None,
        }
    }

    /// Asks one thing, on a connection of its own.
    pub(crate) async fn once(address: SocketAddr, call: &Call) -> Result<Answer> {
        Self::new(address, Version::HTTP_11).call(call).await
    }

    /// Opens one HTTP/2 connection, and returns clients that share it.
    pub(crate) async fn streams(address: SocketAddr, count: usize) -> Result<Vec<Self>> {
        let (sender, driver) = open_http2(address).await?;
        let driver = Arc::new(driver);
        let client = |_| Self {
            address,
            protocol: Version::HTTP_2,
            connection: Some(Connection {
                sender: Sender::Http2(sender.clone()),
                _driver: Arc::clone(&driver),
            }),
        };
        Ok((0..count).map(client).collect())
    }

    pub(crate) async fn call(&mut self, call: &Call) -> Result<Answer> {
        let request = call.request(self.address, self.protocol)?;
        match timeout(PATIENCE, self.exchange(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                self.connection = None;
                Err(error)
            }
            Err(_) => {
                self.connection = None;
                Err(format!("no answer within {PATIENCE:?}").into())
            }
        }
    }

    /// Asks, and leaves if there is no answer by then: of HTTP/2 the stream, else the connection.
    pub(crate) async fn call_and_leave(&mut self, call: &Call, after: Duration) -> Result<()> {
        if let Ok(answer) = timeout(after, self.call(call)).await {
            return answer.map(drop);
        }
        if self.protocol != Version::HTTP_2 {
            self.connection = None;
        }
        Ok(())
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer> {
        let is_ready = match &mut self.connection {
            Some(connection) => connection.is_ready().await,
            None => false,
        };
        let connection = match &mut self.connection {
            Some(connection) if is_ready => connection,
            place => place.insert(Connection::open(self.address, self.protocol).await?),
        };
        let (parts, body) = connection.send(request).await?.into_parts();
        Ok(Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await?.to_bytes(),
        })
    }
}

impl Connection {
    async fn open(address: SocketAddr, protocol: Version) -> Result<Self> {
        let (sender, driver) = if protocol == Version::HTTP_2 {
            let (sender, driver) = open_http2(address).await?;
            (Sender::Http2(sender), driver)
        } else {
            let (sender, driver) = http1::handshake(connect(address).await?).await?;
            (Sender::Http1(sender), drive(driver))
        };
        Ok(Self {
            sender,
            _driver: Arc::new(driver),
        })
    }

    /// Whether the server has not closed it; waits until it can take a request.
    async fn is_ready(&mut self) -> bool {
        match &mut self.sender {
            Sender::Http1(sender) => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> hyper::Result<http::Response<Incoming>> {
        match &mut self.sender {
            Sender::Http1(sender) => sender.send_request(request).await,
            Sender::Http2(sender) => sender.send_request(request).await,
        }
    }
}

async fn connect(address: SocketAddr) -> Result<TokioIo<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    // A client that leaves resets its connection, which the server notices at once. One that only
    // ends its input keeps a search for the grace period; at the pace of the soak these would keep
    // all long searches of others waiting.
    stream.set_zero_linger()?;
    Ok(TokioIo::new(stream))
}

async fn open_http2(
    address: SocketAddr,
) -> Result<(http2::SendRequest<Full<Bytes>>, AbortOnDropHandle<()>)> {
    let io = connect(address).await?;
    let (sender, driver) = http2::handshake(TokioExecutor::new(), io).await?;
    Ok((sender, drive(driver)))
}

/// Starts a task that moves the bytes of a connection. The requests report how it ends.
fn drive<T>(connection: impl Future<Output = T> + Send + 'static) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move { drop(connection.await) }))
}
