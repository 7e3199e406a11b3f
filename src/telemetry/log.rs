use std::io::{self, IsTerminal};
use std::panic;
use std::time::SystemTime;

use humantime::Rfc3339Timestamp;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, Registry};

use super::json::{JsonFields, JsonLine};
use super::lines::{Lines, LogGuard};
use super::text::{TextFields, TextLine};

/// Room for a usual line.
pub(super) const LINE_BYTES: usize = 256;

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: one object a line.
    Json,
}

/// Sends what is traced to standard error, and panics with it.
///
/// Lines are written by a thread of their own. Where they cannot be written as fast as they come,
/// they are dropped: a log that nobody reads must not hold up a request, nor the end.
///
/// # Errors
/// Something else in this process takes what is traced already.
pub fn init(format: LogFormat, filter: Targets) -> Result<LogGuard, TryInitError> {
    // The HTTP/2 library warns of what clients do, which would let strangers fill the log.
    let is_named = filter.iter().any(|(target, _)| target.starts_with("h2"));
    let filter = if is_named {
        filter
    } else {
        filter.with_target("h2", LevelFilter::OFF)
    };
    let (lines, guard) = Lines::new(io::stderr());
    let layer = layer(format, io::stderr().is_terminal(), lines);
    tracing_subscriber::registry()
        .with(layer)
        .with(filter)
        .try_init()?;
    panic::set_hook(Box::new(|panic| {
        let message = panic
            .payload_as_str()
            .unwrap_or("a panic without a message");
        let location = panic.location().map(ToString::to_string);
        tracing::error!(message, location, "panicked");
    }));
    Ok(guard)
}

/// Writes what is traced as `lines`.
fn layer(
    format: LogFormat,
    in_colour: bool,
    lines: Lines,
) -> Box<dyn Layer<Registry> + Send + Sync> {
    let layer = tracing_subscriber::fmt::layer().with_writer(lines);
    match format {
        LogFormat::Text if in_colour => layer.boxed(),
        LogFormat::Text => layer
            .with_ansi(false)
            .fmt_fields(TextFields)
            .event_format(TextLine)
            .boxed(),
        LogFormat::Json => layer
            .with_ansi(false)
            .fmt_fields(JsonFields)
            .event_format(JsonLine)
            .boxed(),
    }
}

/// The time, in UTC, as tracing-subscriber writes it, in a fifth of its time.
pub(super) fn now() -> Rfc3339Timestamp {
    humantime::format_rfc3339_micros(SystemTime::now())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::telemetry::lines::tests::Collect;
    use std::sync::mpsc::channel;
    use tracing::subscriber::with_default;

    /// The lines of what is traced meanwhile.
    pub(in super::super) fn logged(format: LogFormat, traced: impl FnOnce()) -> String {
        collected(|lines| layer(format, false, lines), traced)
    }

    /// The lines by a layer of their own.
    pub(in super::super) fn collected(
        layer: impl FnOnce(Lines) -> Box<dyn Layer<Registry> + Send + Sync>,
        traced: impl FnOnce(),
    ) -> String {
        let (sender, written) = channel();
        let (lines, guard) = Lines::new(Collect(sender));
        with_default(tracing_subscriber::registry().with(layer(lines)), traced);
        drop(guard);
        String::from_utf8(written.iter().flatten().collect()).unwrap()
    }
}
