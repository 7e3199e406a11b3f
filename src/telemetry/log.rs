use std::io::{self, IsTerminal, Write};
use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

/// How many lines wait to be written before further ones are dropped.
const WAITING_LINES: usize = 16 * 1024;
/// How long the lines that wait may take to be written at the end.
const LAST_LINES: Duration = Duration::from_millis(200);

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
    let (lines, guard) = Lines::new(io::stderr());
    let layer = tracing_subscriber::fmt::layer().with_writer(lines);
    let layer = match format {
        LogFormat::Text => layer.with_ansi(io::stderr().is_terminal()).boxed(),
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
    Ok(guard)
}

/// The lines on their way to the thread that writes them; an empty one asks it to end.
struct Lines(SyncSender<Vec<u8>>);

impl Lines {
    fn new(mut output: impl Write + Send + 'static) -> (Self, LogGuard) {
        let (lines, waiting) = sync_channel::<Vec<u8>>(WAITING_LINES);
        let (end, ended) = sync_channel(1);
        thread::spawn(move || {
            for line in waiting {
                if line.is_empty() {
                    break;
                }
                // There is nowhere to tell that a line could not be written.
                let _ = output.write_all(&line);
            }
            let _ = end.try_send(());
        });
        let guard = LogGuard {
            lines: lines.clone(),
            ended,
        };
        (Self(lines), guard)
    }
}

/// Waits a moment, when it is dropped, for what is still to be written.
#[must_use]
pub struct LogGuard {
    lines: SyncSender<Vec<u8>>,
    ended: Receiver<()>,
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        if self.lines.try_send(Vec::new()).is_ok() {
            let _ = self.ended.recv_timeout(LAST_LINES);
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line {
            lines: self,
            text: Vec::with_capacity(256),
        }
    }
}

/// A line in the making, which goes on its way when it is dropped.
struct Line<'a> {
    lines: &'a Lines,
    text: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if !self.text.is_empty() {
            let _ = self.lines.0.try_send(std::mem::take(&mut self.text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn lines_are_written_whole_and_in_order_before_the_end() {
        struct Collect(std::sync::mpsc::Sender<Vec<u8>>);
        impl Write for Collect {
            fn write(&mut self, text: &[u8]) -> io::Result<usize> {
                self.0.send(text.to_vec()).map_err(io::Error::other)?;
                Ok(text.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (sender, written) = channel();
        let (lines, guard) = Lines::new(Collect(sender));
        for number in 0..100 {
            let mut line = lines.make_writer();
            write!(line, "line ").unwrap();
            writeln!(line, "{number}").unwrap();
        }
        drop(guard);
        let text: Vec<u8> = written.iter().flatten().collect();
        let text = String::from_utf8(text).unwrap();
        assert!(
            text.lines()
                .eq((0..100).map(|number| format!("line {number}"))),
            "{text}"
        );
    }

    #[test]
    fn an_output_that_takes_nothing_holds_up_neither_lines_nor_the_end() {
        struct Stuck;
        impl Write for Stuck {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                loop {
                    thread::park();
                }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (lines, guard) = Lines::new(Stuck);
        for _ in 0..2 * WAITING_LINES {
            writeln!(lines.make_writer(), "nobody reads this").unwrap();
        }
        drop(guard);
    }
}
