//! Sockets: the accept loop, what a connection may take, and the drain.
//!
//! It serves any router, and knows nothing of routes.

mod activity;
mod body;
mod framing;
mod stream;

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body as AxumBody;
use futures_util::stream::{FuturesUnordered, StreamExt};
use http::header::CONNECTION;
use http::{HeaderValue, StatusCode, Version};
use hyper::body::{Body, Incoming};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::gauge_guard::GaugeGuard;
use activity::ConnectionActivity;
use body::{GuardedBody, RequestBody};
use stream::ClientStream;

/// The most bytes of a request's head: far more than this API needs.
const HEAD_LIMIT: u32 = 16 * 1024;
/// How many requests one HTTP/2 connection may have under way.
const HTTP2_STREAMS: u32 = 128;
/// How often an HTTP/2 client must show that it is there, and how long it may take to.
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(20);
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take nothing of an answer.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait before accepting again where the system has no resources left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What connections may take.
#[derive(Clone, Debug)]
pub struct Config {
    /// How many connections are served at a time. More wait in the system's queue.
    pub max_connections: usize,
    /// How long a connection may be without a request under way, be it that none comes, or slowly.
    pub header_timeout: Duration,
    /// After how long a connection is asked to end, so that balancers spread load anew.
    pub max_connection_age: Duration,
    /// Whether to serve HTTP/2 beside HTTP/1.
    pub http2: bool,
}

/// What the server counts. Cheap to clone: clones share their numbers.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Connections open now.
    pub connections: Gauge,
    limit: Gauge,
    accepted: Counter,
}

impl Metrics {
    /// Makes the numbers part of what `registry` tells.
    pub fn register(&self, registry: &mut Registry) {
        let m = self.clone();
        registry.register("connections", "Connections that are open", m.connections);
        registry.register(
            "connections_limit",
            "Connections that may be open at a time",
            m.limit,
        );
        registry.register("connections_accepted", "Connections accepted", m.accepted);
    }
}

/// When to stop. Cheap to clone: clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Ask HTTP/1 clients, with each answer, to go on elsewhere. A connection that is closed while it
    /// is idle can cost a request that is on its way; one that its client gives up cannot.
    pub announce: CancellationToken,
    /// Accept no more, and let every connection end its requests.
    pub drain: CancellationToken,
    /// Drop the connections that are left.
    pub abort: CancellationToken,
}

/// Serves until the drain has begun and the last connection has ended.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    config: Config,
    metrics: Metrics,
    shutdown: Shutdown,
) {
    let slots = config.max_connections.min(Semaphore::MAX_PERMITS);
    metrics.limit.set(i64::try_from(slots).unwrap_or(i64::MAX));
    let slots = Arc::new(Semaphore::new(slots));
    let connections = TaskTracker::new();
    let server = Arc::new(Server {
        builder: builder(&config),
        config,
        metrics,
        shutdown: shutdown.clone(),
    });
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &slots) => accepted,
            () = shutdown.drain.cancelled() => break,
        };
        match accepted {
            Ok((stream, slot)) => {
                connections.spawn(Arc::clone(&server).connection(stream, app.clone(), slot));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots)
        .acquire_owned()
        .await
        .expect("the semaphore is never closed");
    let (stream, _) = listener.accept().await?;
    Ok((stream, slot))
}

fn builder(config: &Config) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // All time without a request under way is watched below, of HTTP/2 too.
        .header_read_timeout(None)
        .max_buf_size(HEAD_LIMIT as usize);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(HTTP2_PING_INTERVAL)
        .keep_alive_timeout(HTTP2_PING_TIMEOUT)
        .max_concurrent_streams(HTTP2_STREAMS)
        .max_header_list_size(HEAD_LIMIT);
    if config.http2 {
        builder
    } else {
        builder.http1_only()
    }
}

struct Server {
    builder: auto::Builder<TokioExecutor>,
    config: Config,
    metrics: Metrics,
    shutdown: Shutdown,
}

impl Server {
    async fn connection(self: Arc<Self>, stream: TcpStream, app: Router, _: OwnedSemaphorePermit) {
        self.metrics.accepted.inc();
        let _open = GaugeGuard::new(&self.metrics.connections);
        // Answers are small and written at once: nothing is gained by waiting for more.
        let _ = stream.set_nodelay(true);
        let activity = ConnectionActivity::new(self.shutdown.announce.child_token());
        let answers = TowerToHyperService::new(app);
        let service = service_fn({
            let activity = Arc::clone(&activity);
            move |request: Request<Incoming>| {
                let guard = activity.begin();
                let is_http_1 = request.version() < Version::HTTP_2;
                activity.set_has_answer(false);
                let activity = Arc::clone(&activity);
                let checked = framing::check(&request);
                let answer = checked.map(|()| {
                    let request = request.map(|body| RequestBody::new(body, &activity));
                    answers.call(request)
                });
                async move {
                    let (mut response, is_refused) = match answer {
                        Ok(answer) => (answer.await?, false),
                        Err(status) => (refusal(status), true),
                    };
                    // The head of a stream is sent long before its end, when it may be so far.
                    let is_stream = response.body().size_hint().exact().is_none();
                    if is_http_1 && (is_refused || is_stream || guard.is_last()) {
                        let headers = response.headers_mut();
                        headers.insert(CONNECTION, HeaderValue::from_static("close"));
                    }
                    let untaken = (!is_http_1).then(|| activity.untaken());
                    activity.set_has_answer(is_http_1);
                    Ok::<_, Infallible>(response.map(|body| GuardedBody::new(body, guard, untaken)))
                }
            }
        });
        let stream = ClientStream::new(stream, Arc::clone(&activity), WRITE_TIMEOUT);
        let mut connection = pin!(self.builder.serve_connection(TokioIo::new(stream), service));
        // In there it is polled when it wakes, and not with every request.
        let mut ending = FuturesUnordered::from_iter([self.ending(&activity)]);
        let result = tokio::select! {
            biased;
            result = connection.as_mut() => result,
            Some(ending) = ending.next() => match ending {
                Ending::Drop => Ok(()),
                Ending::Asked => {
                    connection.as_mut().graceful_shutdown();
                    self.finish(connection, &activity).await
                }
            },
        };
        if let Err(error) = result {
            // What clients do to their connections is not the operator's concern.
            tracing::debug!(%error, "connection error");
        }
    }

    /// Waits until a connection has to end.
    async fn ending(&self, activity: &ConnectionActivity) -> Ending {
        let age = async {
            sleep(self.config.max_connection_age).await;
            activity.is_ending.cancel();
            // By then an idle connection of HTTP/1 has timed out, and a busy one been given up.
            sleep(self.config.header_timeout).await;
        };
        tokio::select! {
            () = self.is_useless(activity) => Ending::Drop,
            () = self.shutdown.drain.cancelled() => Ending::Asked,
            () = age => Ending::Asked,
        }
    }

    /// Waits until a connection has been idle, or an answer not taken, for too long.
    async fn is_useless(&self, activity: &ConnectionActivity) {
        tokio::select! {
            () = activity.idle_for(self.config.header_timeout) => {}
            () = activity.untaken_for(WRITE_TIMEOUT) => {}
        }
    }

    /// Waits for the requests of a connection that has been asked to end.
    async fn finish<E>(
        &self,
        connection: impl Future<Output = Result<(), E>>,
        activity: &ConnectionActivity,
    ) -> Result<(), E> {
        tokio::select! {
            biased;
            result = connection => result,
            () = self.is_useless(activity) => Ok(()),
            () = self.shutdown.abort.cancelled() => Ok(()),
            () = sleep(self.config.max_connection_age) => Ok(()),
        }
    }
}

/// Answers a request that never reaches the routes.
fn refusal(status: StatusCode) -> Response<AxumBody> {
    let mut response = Response::new(AxumBody::empty());
    *response.status_mut() = status;
    response
}

/// Why the server ends a connection.
enum Ending {
    /// Nobody uses it.
    Drop,
    /// It may finish its requests, but takes no more.
    Asked,
}
