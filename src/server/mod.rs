//! Sockets: the accept loop, what a connection may take, and the drain.
//!
//! It serves any router, and knows nothing of routes.

mod activity;
mod watched;

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use futures_util::stream::{FuturesUnordered, StreamExt};
use http::header::CONNECTION;
use http::{HeaderValue, Version};
use hyper::Request;
use hyper::body::{Body, Incoming};
use hyper::service::{Service, service_fn};
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
use activity::Activity;
use watched::{BusyBody, Watched};

/// The most bytes of a request's head: far more than this API needs.
const HEAD_LIMIT: u32 = 16 * 1024;
/// How many requests one HTTP/2 connection may have under way.
const HTTP2_STREAMS: u32 = 128;
/// How often an HTTP/2 client must show that it is there, and how long it may take to.
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(20);
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take to take the next bytes of an answer.
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
        builder: builder(),
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

fn builder() -> auto::Builder<TokioExecutor> {
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
    builder
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
        let activity = Activity::new(self.shutdown.announce.child_token());
        let answers = TowerToHyperService::new(app);
        let service = service_fn({
            let activity = Arc::clone(&activity);
            move |request: Request<Incoming>| {
                let busy = activity.begin();
                let is_http_1 = request.version() < Version::HTTP_2;
                let answer = answers.call(request);
                async move {
                    let mut response = answer.await?;
                    // The head of a stream is sent long before its end, when it may be so far.
                    let is_stream = response.body().size_hint().exact().is_none();
                    if is_http_1 && (is_stream || busy.is_last()) {
                        let headers = response.headers_mut();
                        headers.insert(CONNECTION, HeaderValue::from_static("close"));
                    }
                    Ok::<_, Infallible>(response.map(|body| BusyBody::new(body, busy)))
                }
            }
        });
        let io = TokioIo::new(Watched::new(stream, Arc::clone(&activity), WRITE_TIMEOUT));
        let mut connection = pin!(self.builder.serve_connection(io, service));
        // In there it is polled when it wakes, and not with every request.
        let mut ending = FuturesUnordered::from_iter([self.ending(&activity)]);
        let mut has_waited = false;
        let result = tokio::select! {
            biased;
            result = poll_fn(|cx| {
                has_waited = !has_waited && self.may_gather(&activity);
                if has_waited {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                connection.as_mut().poll(cx)
            }) => result,
            Some(ending) = ending.next() => match ending {
                Ending::Idle => Ok(()),
                Ending::Asked => {
                    connection.as_mut().graceful_shutdown();
                    self.finish(connection, &activity).await
                }
            },
        };
        if let Err(error) = result {
            // What clients do to their connections is their affair.
            tracing::debug!(%error, "a connection failed");
        }
    }

    /// Whether a connection, when it wakes, lets other tasks run first.
    ///
    /// Each of several answers by HTTP/2 wakes it, and by itself takes a call of the system and a
    /// packet. Those that are about to be ready go along, unless there is only one client, who had
    /// better have the first of them while the others are made.
    fn may_gather(&self, activity: &Activity) -> bool {
        activity.requests() > 1 && self.metrics.connections.get() > 1
    }

    /// Waits until a connection has to end.
    async fn ending(&self, activity: &Activity) -> Ending {
        let age = async {
            sleep(self.config.max_connection_age).await;
            activity.is_ending.cancel();
            // By then an idle connection of HTTP/1 has timed out, and a busy one been given up.
            sleep(self.config.header_timeout).await;
        };
        tokio::select! {
            () = activity.idle_for(self.config.header_timeout) => Ending::Idle,
            () = self.shutdown.drain.cancelled() => Ending::Asked,
            () = age => Ending::Asked,
        }
    }

    /// Waits for the requests of a connection that has been asked to end.
    async fn finish<E>(
        &self,
        connection: impl Future<Output = Result<(), E>>,
        activity: &Activity,
    ) -> Result<(), E> {
        tokio::select! {
            biased;
            result = connection => result,
            () = activity.idle_for(self.config.header_timeout) => Ok(()),
            () = self.shutdown.abort.cancelled() => Ok(()),
        }
    }
}

/// Why a connection ends that its client does not end.
enum Ending {
    /// It has been without a request for too long.
    Idle,
    /// Its requests may end, and no more are taken.
    Asked,
}
