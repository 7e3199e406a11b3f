use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::ValueEnum;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing_subscriber::filter::Targets;

use super::Failure;
use super::address::Address;
use super::bounds::{duration, number};
use super::origins::Origins;
use super::signals::Signals;
use crate::http::{AppConfig, HttpMetrics, app, metrics_app};
use crate::puzzle::MoveSequence;
use crate::server::{self, Shutdown};
use crate::service::{self, Service};
use crate::telemetry::{self, LogFormat};

/// Where the API is served unless another address is given.
pub(super) const DEFAULT_ADDRESS: &str = "127.0.0.1:8080";
/// How many connections ask for metrics at a time.
const METRICS_CONNECTIONS: usize = 64;
/// Files that the server has open beside connections, rounded up.
const OWN_FILES: usize = 16;
/// After how long a connection is asked to end.
const MAX_CONNECTION_AGE: Duration = Duration::from_hours(1);
/// How long answers may take to be written once their searches have been stopped, and threads to
/// notice.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Threads of the blocking pool beside those of the lanes.
const SPARE_THREADS: usize = 3;

/// Bounds of the options. Each option names its own in its help.
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_hours(1);
const DRAINS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_hours(24);
const PAUSES: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_hours(1);
/// Each class of work takes that many threads.
const CONCURRENCY: RangeInclusive<usize> = 1..=1024;
const QUEUE: RangeInclusive<usize> = 0..=1_000_000;
const CACHE: RangeInclusive<usize> = 0..=100_000_000;
const GOALS: RangeInclusive<usize> = 1..=4096;
const BATCH_MEMORY: RangeInclusive<usize> = 1..=65_536;
/// Systems give a process about a million file descriptors at most.
const CONNECTIONS: RangeInclusive<usize> = 1..=1_000_000;

/// Serve the API over HTTP (what is done without a command)
///
/// SIGTERM and SIGINT end it: requests under way are answered first. A second signal ends it at
/// once.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where the API is served: HOST:PORT, :PORT for every interface, or PORT on 127.0.0.1
    ///
    /// Of a host with several addresses, it is the first that can be listened on, IPv4 before IPv6.
    /// :PORT is 0.0.0.0:PORT; an IPv6 address stands in brackets. Port 0 takes a free one. Standard
    /// output has the address.
    #[arg(long, value_name = "ADDRESS", default_value = DEFAULT_ADDRESS, env = "ROTATION_GAME_LISTEN")]
    listen: Address,

    /// Where GET /metrics is served, in the same forms, or off
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:9464",
        env = "ROTATION_GAME_METRICS_LISTEN"
    )]
    metrics_listen: MetricsListen,

    /// Maximum `max_depth` of a request and its default, in moves, from 0 to 32
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = number::<u32>(0..=MoveSequence::CAPACITY), env = "ROTATION_GAME_MAX_DEPTH")]
    max_depth: u32,

    /// Maximum `timeout_ms` of a request and its default, from 1ms to 1h
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration(TIMEOUTS), env = "ROTATION_GAME_SEARCH_TIMEOUT")]
    search_timeout: Duration,

    /// Number of threads for each class of work, from 1 to 1024 [default: the number of cores]
    ///
    /// Lookups (`/boards/…`) and batches have this many threads each. Long searches (`misplaced` and
    /// patterns) have one fewer, but at least one, and so leave a core to everything else. Exact
    /// searches share one more thread and are not limited. No class waits for another.
    #[arg(long, value_name = "N", value_parser = number::<u16>(CONCURRENCY), env = "ROTATION_GAME_SEARCH_CONCURRENCY")]
    search_concurrency: Option<u16>,

    /// Number of long searches that wait for a thread, from 0 to 1000000; more are refused
    ///
    /// As many lookups wait. Exact searches are never refused, and lines of batches wait elsewhere.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 256,
        value_parser = number::<usize>(QUEUE),
        env = "ROTATION_GAME_SEARCH_QUEUE"
    )]
    search_queue: usize,

    /// Capacity of the solution cache, from 0 to 100000000 solutions; 0 disables caching
    ///
    /// A second cache of the same capacity holds solutions to patterns.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 65_536,
        value_parser = number::<usize>(CACHE),
        env = "ROTATION_GAME_CACHE_CAPACITY"
    )]
    cache_capacity: usize,

    /// Number of patterns whose tables are kept, from 1 to 4096; the tables of one take 2 to 7 MB
    #[arg(
        long,
        value_name = "N",
        default_value = "16",
        value_parser = number::<NonZeroUsize>(GOALS),
        env = "ROTATION_GAME_GOAL_CACHE"
    )]
    goal_cache: NonZeroUsize,

    /// MiB of answers that all batches together hold for their clients, from 1 to 65536
    ///
    /// An exact solution takes eight bytes, so the default holds two million. A batch whose answers
    /// find no room reads its input no further until its client takes some, but each batch always
    /// has room for a few hundred answers.
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 16,
        value_parser = number::<usize>(BATCH_MEMORY),
        env = "ROTATION_GAME_BATCH_MEMORY"
    )]
    batch_memory: usize,

    /// Number of connections that are served at a time, from 1 to 1000000; more wait
    #[arg(
        long,
        value_name = "N",
        default_value = "8192",
        value_parser = number::<NonZeroUsize>(CONNECTIONS),
        env = "ROTATION_GAME_MAX_CONNECTIONS"
    )]
    max_connections: NonZeroUsize,

    /// Whether to serve HTTP/2 (without TLS) beside HTTP/1
    #[arg(long, value_enum, default_value_t = Switch::On, env = "ROTATION_GAME_HTTP2")]
    http2: Switch,

    /// Close a connection that has had no request in flight for this long, from 1ms to 1h
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration(TIMEOUTS), env = "ROTATION_GAME_HEADER_TIMEOUT")]
    header_timeout: Duration,

    /// Maximum time for a request's body to arrive, from 1ms to 1h
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration(TIMEOUTS), env = "ROTATION_GAME_BODY_TIMEOUT")]
    body_timeout: Duration,

    /// Maximum time for requests in flight to end when the server is stopped, from 0s to 1day
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration(DRAINS), env = "ROTATION_GAME_DRAIN_TIMEOUT")]
    drain_timeout: Duration,

    /// Time to keep accepting connections when the server is stopped, from 0s to 1h
    ///
    /// Load balancers notice the stop within it.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration(PAUSES), env = "ROTATION_GAME_SHUTDOWN_PAUSE")]
    shutdown_pause: Duration,

    /// Whose pages may use the API from a browser: origins with commas between, or * [default: none]
    #[arg(
        long,
        value_name = "ORIGIN",
        default_value = "",
        hide_default_value = true,
        env = "ROTATION_GAME_CORS_ORIGIN"
    )]
    cors_origin: Origins,

    /// How log lines are written
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "ROTATION_GAME_LOG_FORMAT")]
    log_format: LogFormat,

    /// What is logged: off, error, warn, info, debug or trace, or such as info,access=off
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        env = "ROTATION_GAME_LOG"
    )]
    log: Targets,
}

/// Whether something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// An address, or none.
#[derive(Clone, Debug)]
struct MetricsListen(Option<Address>);

impl FromStr for MetricsListen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        match text.parse() {
            Ok(address) => Ok(Self(Some(address))),
            Err(_) => Err(format!(
                "expected {} or `off`, found {text}",
                Address::EXAMPLES
            )),
        }
    }
}

impl ValueEnum for LogFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Text, Self::Json]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(match self {
            Self::Text => clap::builder::PossibleValue::new("text").help("For people"),
            Self::Json => clap::builder::PossibleValue::new("json").help("For machines"),
        })
    }
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let _log =
        telemetry::init(args.log_format, args.log.clone()).map_err(|error| Failure::Start {
            what: "log",
            source: io::Error::other(error),
        })?;
    #[cfg(unix)]
    super::open_files::raise_limit(args.max_connections.get() + METRICS_CONNECTIONS + OWN_FILES);
    let searches = match args.search_concurrency {
        Some(concurrency) => concurrency.into(),
        None => available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        // The lanes of long searches and of exact ones together have as many as each other lane.
        .max_blocking_threads(3 * searches + 1 + SPARE_THREADS)
        .build()
        .map_err(|source| Failure::Start {
            what: "start threads",
            source,
        })?;
    let result = runtime.block_on(serve(args, searches));
    // Dropping it would wait for threads without limit.
    runtime.shutdown_timeout(LAST_WORDS);
    result
}

async fn serve(args: Args, search_concurrency: usize) -> Result<(), Failure> {
    let mut signals = Signals::new().map_err(|source| Failure::Start {
        what: "listen to signals",
        source,
    })?;
    let listener = bind("--listen", &args.listen).await?;
    let metrics_listener = match &args.metrics_listen.0 {
        Some(address) => Some(bind("--metrics-listen", address).await?),
        None => None,
    };
    let service = Service::new(service::Config {
        max_depth: args.max_depth,
        search_timeout: args.search_timeout,
        search_concurrency,
        search_queue: args.search_queue,
        cache_capacity: args.cache_capacity,
        goal_cache: args.goal_cache,
    });
    let (http_metrics, server_metrics) = (HttpMetrics::default(), server::Metrics::default());
    let mut registry = telemetry::registry();
    {
        let own = registry.sub_registry_with_prefix(telemetry::APP_PREFIX);
        service.metrics().register(own);
        http_metrics.register(own);
        server_metrics.register(own);
    }

    announce(&listener, metrics_listener.as_ref())?;
    tokio::spawn({
        let service = service.clone();
        async move { service.prepare().await }
    });
    let shutdown = Shutdown::default();
    let metrics_server =
        metrics_listener.map(|listener| serve_metrics(&args, listener, registry, shutdown.clone()));
    let mut server = tokio::spawn(server::serve(
        listener,
        app(AppConfig {
            service: service.clone(),
            body_timeout: args.body_timeout,
            metrics: http_metrics,
            batch_memory: args.batch_memory * 1024 * 1024,
            cors: args.cors_origin.layer(),
        }),
        server::Config {
            max_connections: args.max_connections.get(),
            header_timeout: args.header_timeout,
            max_connection_age: MAX_CONNECTION_AGE,
            http2: args.http2 == Switch::On,
        },
        server_metrics,
        shutdown.clone(),
    ));

    let signal = signals.next().await;
    tracing::info!(signal, "stopping");
    service.drain();
    shutdown.announce.cancel();
    let stopping = async {
        sleep(args.shutdown_pause).await;
        shutdown.drain.cancel();
        if timeout(args.drain_timeout, &mut server).await.is_err() {
            tracing::warn!("the drain timeout is over: searches are stopped");
            service.stop();
            if timeout(LAST_WORDS, &mut server).await.is_err() {
                shutdown.abort.cancel();
            }
        }
    };
    tokio::select! {
        () = stopping => tracing::info!("stopped"),
        signal = signals.next() => tracing::warn!(signal, "stopped at once"),
    }
    service.stop();
    if let Some(metrics_server) = metrics_server {
        metrics_server.abort();
    }
    Ok(())
}

/// Listens on the first of an address's socket addresses that this machine has.
///
/// One that is taken is an error even where another is free, since clients of the host would reach
/// the other program.
async fn bind(flag: &'static str, address: &Address) -> Result<TcpListener, Failure> {
    let listen = async {
        let mut result = Err(io::ErrorKind::AddrNotAvailable.into());
        for candidate in address.resolve().await? {
            result = TcpListener::bind(candidate).await;
            match &result {
                Err(error) if error.kind() != io::ErrorKind::AddrInUse => {}
                _ => break,
            }
        }
        result
    };
    listen.await.map_err(|source| Failure::Listen {
        address: address.clone(),
        flag,
        source,
    })
}

/// Tells people and scripts where to connect.
fn announce(listener: &TcpListener, metrics: Option<&TcpListener>) -> Result<(), Failure> {
    let unknown = |source| Failure::Start {
        what: "find out the address",
        source,
    };
    let address = listener.local_addr().map_err(unknown)?;
    tracing::info!(%address, "listening");
    if let Some(metrics) = metrics {
        let address = metrics.local_addr().map_err(unknown)?;
        tracing::info!(%address, "serving /metrics");
    }
    // A closed standard output is no reason not to serve.
    let mut output = io::stdout().lock();
    let _ = writeln!(output, "listening on http://{address}").and_then(|()| output.flush());
    Ok(())
}

fn serve_metrics(
    args: &Args,
    listener: TcpListener,
    registry: Registry,
    shutdown: Shutdown,
) -> JoinHandle<()> {
    // Metrics are told until the end, of the drain too.
    let shutdown = Shutdown {
        drain: shutdown.abort,
        ..Shutdown::default()
    };
    tokio::spawn(server::serve(
        listener,
        metrics_app(registry),
        server::Config {
            max_connections: METRICS_CONNECTIONS,
            header_timeout: args.header_timeout,
            max_connection_age: MAX_CONNECTION_AGE,
            http2: false,
        },
        server::Metrics::default(),
        shutdown,
    ))
}
