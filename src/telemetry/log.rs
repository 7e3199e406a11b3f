use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use std::{fmt, mem, panic, thread};

use tracing::field::{Field, Visit};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, Registry};

/// How many bytes of lines wait to be written before further lines are dropped.
const WAITING_BYTES: usize = 4 * 1024 * 1024;
/// How many bytes of memory are kept for the next lines.
const KEPT_BYTES: usize = 64 * 1024;
/// How long lines are gathered after some have been written: under load, to wake a thread and to call
/// the system for each costs more than all the rest of a line.
const GATHERING: Duration = Duration::from_millis(5);
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
    let layer = match format {
        LogFormat::Text => text(lines, io::stderr().is_terminal()),
        LogFormat::Json => tracing_subscriber::fmt::layer()
            .with_writer(lines)
            .with_timer(Clock)
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

/// Lines for people.
fn text(lines: Lines, in_colour: bool) -> Box<dyn Layer<Registry> + Send + Sync> {
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(lines)
        .with_timer(Clock);
    if in_colour {
        return layer.boxed();
    }
    layer.with_ansi(false).fmt_fields(PlainFields).boxed()
}

/// Writes the time as the default does, in a fifth of its time.
struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let now = humantime::format_rfc3339_micros(SystemTime::now());
        write!(writer, "{now}")
    }
}

/// Writes fields as the default does, without its detour by colours that are off.
struct PlainFields;

impl<'writer> FormatFields<'writer> for PlainFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut line = FieldLine {
            writer,
            is_empty: true,
            result: Ok(()),
        };
        fields.record(&mut line);
        line.result
    }
}

struct FieldLine<'writer> {
    writer: Writer<'writer>,
    is_empty: bool,
    result: fmt::Result,
}

impl FieldLine<'_> {
    fn write(&mut self, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
        self.write_name(field)?;
        write!(OneLine(&mut self.writer), "{value:?}")
    }

    fn write_name(&mut self, field: &Field) -> fmt::Result {
        if !mem::take(&mut self.is_empty) {
            self.writer.write_char(' ')?;
        }
        if field.name() == "message" {
            return Ok(());
        }
        self.writer.write_str(field.name())?;
        self.writer.write_char('=')
    }

    /// Text without anything to escape, which is nearly all.
    fn write_plain(&mut self, field: &Field, text: &str) -> fmt::Result {
        self.write_name(field)?;
        self.writer.write_char('"')?;
        self.writer.write_str(text)?;
        self.writer.write_char('"')
    }
}

impl Visit for FieldLine<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.result = self.result.and_then(|()| self.write(field, value));
    }

    fn record_str(&mut self, field: &Field, text: &str) {
        let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
        if text.bytes().all(is_plain) {
            self.result = self.result.and_then(|()| self.write_plain(field, text));
        } else {
            self.record_debug(field, &text);
        }
    }
}

/// Writes control characters as escapes, so that no value can begin another line.
struct OneLine<'a, 'w>(&'a mut Writer<'w>);

impl fmt::Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(char::is_control) {
            match part.char_indices().next_back() {
                Some((end, last)) if last.is_control() => {
                    self.0.write_str(&part[..end])?;
                    write!(self.0, "{}", last.escape_default())?;
                }
                _ => self.0.write_str(part)?,
            }
        }
        Ok(())
    }
}

/// The lines on their way to the thread that writes them.
struct Lines(Arc<Queue>);

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// Whole lines.
    text: Vec<u8>,
    /// Whether the thread has to be woken for the next line.
    is_idle: bool,
    /// Whether the thread is asked to end.
    is_ending: bool,
    has_ended: bool,
}

impl Lines {
    fn new(output: impl Write + Send + 'static) -> (Self, LogGuard) {
        let queue = Arc::new(Queue::default());
        thread::spawn({
            let queue = Arc::clone(&queue);
            move || queue.write_to(output)
        });
        (Self(Arc::clone(&queue)), LogGuard(queue))
    }
}

impl Queue {
    /// Adds a line, unless too many wait.
    fn add(&self, line: &[u8]) {
        let mut waiting = self.lock();
        if waiting.text.len() + line.len() > WAITING_BYTES {
            return;
        }
        waiting.text.extend_from_slice(line);
        if mem::take(&mut waiting.is_idle) {
            self.changed.notify_all();
        }
    }

    /// Writes what comes, until it is asked to end.
    fn write_to(&self, mut output: impl Write) {
        let mut text = Vec::new();
        let mut waiting = self.lock();
        loop {
            waiting = self.wait_while(waiting, |waiting| {
                waiting.is_idle = waiting.text.is_empty() && !waiting.is_ending;
                waiting.is_idle
            });
            if waiting.text.is_empty() {
                break;
            }
            mem::swap(&mut waiting.text, &mut text);
            drop(waiting);
            // There is nowhere to tell that lines could not be written.
            let _ = output.write_all(&text);
            text.clear();
            text.shrink_to(KEPT_BYTES);
            waiting = self.wait_at_most(GATHERING, |waiting| !waiting.is_ending);
        }
        waiting.has_ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing in here panics half way through a change.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'a>(
        &'a self,
        waiting: MutexGuard<'a, Waiting>,
        condition: impl FnMut(&mut Waiting) -> bool,
    ) -> MutexGuard<'a, Waiting> {
        let woken = self.changed.wait_while(waiting, condition);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_at_most(
        &self,
        time: Duration,
        condition: impl FnMut(&mut Waiting) -> bool,
    ) -> MutexGuard<'_, Waiting> {
        let woken = self
            .changed
            .wait_timeout_while(self.lock(), time, condition);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Waits a moment, when it is dropped, for what is still to be written.
#[must_use]
pub struct LogGuard(Arc<Queue>);

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.0.lock().is_ending = true;
        self.0.changed.notify_all();
        let _ended = self
            .0
            .wait_at_most(LAST_LINES, |waiting| !waiting.has_ended);
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(&self.0)
    }
}

/// Takes a line, which is written to it as a whole.
struct Line<'a>(&'a Queue);

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.add(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use tracing::subscriber::with_default;

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

    #[test]
    fn no_value_can_begin_another_line() {
        let (sender, written) = channel();
        let (lines, guard) = Lines::new(Collect(sender));
        let subscriber = tracing_subscriber::registry().with(text(lines, false));
        with_default(subscriber, || {
            let value = "a\n\u{1b}[31mb\u{85}";
            tracing::info!(text = value, shown = %value, "said {value}");
        });
        drop(guard);
        let line = String::from_utf8(written.iter().flatten().collect()).unwrap();
        let escaped = r"a\n\u{1b}[31mb\u{85}";
        let end = format!("said {escaped} text=\"{escaped}\" shown={escaped}\n");
        assert!(line.ends_with(&end), "{line}");
    }

    #[test]
    fn lines_are_written_whole_and_in_order_before_the_end() {
        let (sender, written) = channel();
        let (lines, guard) = Lines::new(Collect(sender));
        for number in 0..100 {
            writeln!(lines.make_writer(), "line {number}").unwrap();
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
        let line = [b'x'; 1024];
        for _ in 0..2 * WAITING_BYTES / line.len() {
            lines.make_writer().write_all(&line).unwrap();
        }
        assert!(lines.0.lock().text.len() <= WAITING_BYTES);
        drop(guard);
    }
}
