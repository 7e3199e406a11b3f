use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;
use std::{mem, thread};

use parking_lot::{Condvar, Mutex};
use tracing_subscriber::fmt::MakeWriter;

/// How many bytes of lines wait to be written before further lines are dropped.
const WAITING_BYTES: usize = 4 * 1024 * 1024;
/// How many bytes of memory are kept for the next lines.
const KEPT_BYTES: usize = 64 * 1024;
/// How long lines are gathered after some have been written: under load, to wake a thread and to call
/// the system for each costs more than all the rest of a line.
const GATHERING: Duration = Duration::from_millis(5);
/// How long the lines that wait may take to be written at the end.
const LAST_LINES: Duration = Duration::from_millis(200);

/// The lines on their way to the thread that writes them.
pub(super) struct Lines(Arc<Queue>);

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
    pub(super) fn new(output: impl Write + Send + 'static) -> (Self, LogGuard) {
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
        let mut waiting = self.waiting.lock();
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
        let mut waiting = self.waiting.lock();
        loop {
            self.changed.wait_while(&mut waiting, |waiting| {
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
            waiting = self.waiting.lock();
            self.changed
                .wait_while_for(&mut waiting, |waiting| !waiting.is_ending, GATHERING);
        }
        waiting.has_ended = true;
        self.changed.notify_all();
    }
}

/// Waits a moment, when it is dropped, for what is still to be written.
#[must_use]
pub struct LogGuard(Arc<Queue>);

impl Drop for LogGuard {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting.lock();
        waiting.is_ending = true;
        self.0.changed.notify_all();
        self.0
            .changed
            .wait_while_for(&mut waiting, |waiting| !waiting.has_ended, LAST_LINES);
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(&self.0)
    }
}

/// Takes a line, which is written to it as a whole.
pub(super) struct Line<'a>(&'a Queue);

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
pub(super) mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Sends on what is written.
    pub(in super::super) struct Collect(pub(in super::super) std::sync::mpsc::Sender<Vec<u8>>);
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
        assert!(lines.0.waiting.lock().text.len() <= WAITING_BYTES);
        drop(guard);
    }
}
