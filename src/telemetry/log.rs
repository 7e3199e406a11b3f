use std::panic;

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

/// How many lines wait to be written before further ones are dropped.
const BUFFERED_LINES: usize = 16 * 1024;

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: one object a line.
    Json,
}

/// Writes what is still to be written when it is dropped.
#[must_use]
pub struct LogGuard {
    _worker: WorkerGuard,
}

/// Sends what is traced to standard error, and panics with it.
///
/// Lines are written by a thread of their own. Where they cannot be written as fast as they come,
/// they are dropped: a log that nobody reads must not hold up a request.
///
/// # Errors
/// Something else in this process takes what is traced already.
pub fn init(format: LogFormat, filter: Targets) -> Result<LogGuard, TryInitError> {
    let (writer, worker) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(BUFFERED_LINES)
        .finish(std::io::stderr());
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    let layer = match format {
        LogFormat::Text => layer
            .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
            .boxed(),
        LogFormat::Json => layer
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .boxed(),
    };
    tracing_subscriber::registry()
        .with(layer.with_filter(filter))
        .try_init()?;
    panic::set_hook(Box::new(|panic| {
        let message = panic
            .payload_as_str()
            .unwrap_or("a panic without a message");
        let location = panic.location().map(ToString::to_string);
        tracing::error!(message, location, "panicked");
    }));
    Ok(LogGuard { _worker: worker })
}
