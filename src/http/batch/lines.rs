use axum::body::Bytes;
use hyper::body::Buf;
use memchr::{memchr, memchr_iter, memrchr};

use crate::puzzle::BYTE_ORDER_MARK;

/// The most bytes of a line.
pub(super) const LINE_LIMIT: usize = 4 * 1024;

/// Cuts input into runs of whole lines, and keeps no more of it than a line that is not yet
/// complete.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The number of the last line that was cut off, counted from 1.
    number: u64,
    /// The start of the next line, at most one byte more than a line may have.
    partial: Vec<u8>,
    /// Whether the next line has anything but white space so far, kept or not.
    has_content: bool,
}

/// Whole lines, of which iterating skips those that are blank.
#[derive(Debug, Default)]
pub(super) struct WholeLines {
    /// The line that began in an earlier piece of the input.
    first: Option<Line>,
    /// The number of the last line that was taken off `rest`.
    number: u64,
    rest: Bytes,
}

/// A line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    /// Its bytes, or `None` if it has more than [`LINE_LIMIT`].
    pub(super) bytes: Option<Bytes>,
}

impl Line {
    /// Makes a line that is not blank, unless all that it has is a byte order mark before the first
    /// line, which is skipped.
    fn new(number: u64, mut bytes: Bytes) -> Option<Self> {
        if bytes.len() > LINE_LIMIT {
            return Some(Self {
                number,
                bytes: None,
            });
        }
        if number == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.advance(BYTE_ORDER_MARK.len());
        }
        has_content(&bytes).then_some(Self {
            number,
            bytes: Some(bytes),
        })
    }
}

impl Lines {
    /// Returns the number of the next line.
    pub(super) fn next_number(&self) -> u64 {
        self.number + 1
    }

    /// Takes all of the input: returns the lines that it completes, and keeps what follows them.
    pub(super) fn cut(&mut self, mut input: Bytes) -> WholeLines {
        let mut lines = WholeLines::default();
        if !self.partial.is_empty()
            && let Some(end) = memchr(b'\n', &input)
        {
            self.keep(&input[..end]);
            input.advance(end + 1);
            lines.first = self.finish();
        }
        if let Some(end) = memrchr(b'\n', &input) {
            lines.number = self.number;
            lines.rest = input.split_to(end + 1);
            self.number += memchr_iter(b'\n', &lines.rest).count() as u64;
        }
        self.keep(&input);
        lines
    }

    /// Returns the line that the end of the input completes, unless it is blank.
    pub(super) fn finish(&mut self) -> Option<Line> {
        self.number += 1;
        let bytes = std::mem::take(&mut self.partial).into();
        let has_content = std::mem::take(&mut self.has_content);
        has_content.then(|| Line::new(self.number, bytes))?
    }

    /// Keeps as much as shows that a line is too long.
    fn keep(&mut self, bytes: &[u8]) {
        self.has_content |= has_content(bytes);
        let room = LINE_LIMIT + 1 - self.partial.len();
        self.partial
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl WholeLines {
    /// Returns whether there is no line, not even a blank one.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.rest.is_empty()
    }
}

impl From<Line> for WholeLines {
    fn from(line: Line) -> Self {
        Self {
            first: Some(line),
            ..Self::default()
        }
    }
}

impl Iterator for WholeLines {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        if self.first.is_some() {
            return self.first.take();
        }
        while let Some(end) = memchr(b'\n', &self.rest) {
            let bytes = self.rest.split_to(end);
            self.rest.advance(1);
            self.number += 1;
            if has_content(&bytes)
                && let Some(line) = Line::new(self.number, bytes)
            {
                return Some(line);
            }
        }
        None
    }
}

fn has_content(bytes: &[u8]) -> bool {
    !bytes.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the lines of a text that comes in pieces.
    fn cut(text: &[u8], size: usize) -> Vec<Line> {
        let mut lines = Lines::default();
        let mut cut = Vec::new();
        for piece in text.chunks(size) {
            cut.extend(lines.cut(Bytes::copy_from_slice(piece)));
            assert!(lines.partial.len() <= LINE_LIMIT + 1);
        }
        cut.extend(lines.finish());
        cut
    }

    #[test]
    fn lines_are_counted_and_blank_ones_passed_over() {
        for size in 1..20 {
            let lines = cut(b"one\n\n \t\r\ntwo\r\n\nthree", size);
            let found: Vec<_> = lines
                .iter()
                .map(|line| (line.number, line.bytes.as_deref().unwrap()))
                .collect();
            assert_eq!(found, [(1, &b"one"[..]), (4, b"two\r"), (6, b"three")]);
        }
    }

    #[test]
    fn one_byte_order_mark_before_the_first_line_is_skipped() {
        for size in 1..20 {
            let found = |text: &str| -> Vec<_> {
                let lines = cut(text.as_bytes(), size).into_iter();
                lines
                    .map(|line| (line.number, line.bytes.unwrap()))
                    .collect()
            };
            assert_eq!(found("\u{feff}one\n"), [(1, "one".into())]);
            assert_eq!(found("\u{feff}one"), [(1, "one".into())]);
            assert_eq!(found("\u{feff}\none"), [(2, "one".into())]);
            assert_eq!(found("\u{feff}"), []);
            assert_eq!(found("\u{feff}\u{feff}a"), [(1, "\u{feff}a".into())]);
            assert_eq!(
                found("a\n\u{feff}b"),
                [(1, "a".into()), (2, "\u{feff}b".into())]
            );
        }
    }

    #[test]
    fn a_line_that_is_too_long_costs_only_itself() {
        let text = [
            &b"a\n"[..],
            &[b'x'; LINE_LIMIT],
            b"\n",
            &[b'x'; LINE_LIMIT + 1],
            b"\nb",
        ]
        .concat();
        for size in [1, 7, 4096, 100_000] {
            let lines = cut(&text, size);
            let lengths: Vec<_> = lines
                .iter()
                .map(|line| line.bytes.as_ref().map(Bytes::len))
                .collect();
            assert_eq!(
                lengths,
                [Some(1), Some(LINE_LIMIT), None, Some(1)],
                "{size}"
            );
        }
    }

    #[test]
    fn a_long_line_that_begins_blank_is_too_long_wherever_it_is_cut() {
        let text = [&[b' '; 5000][..], b"x\n", &[b' '; 5000], b"\ny\n"].concat();
        for size in [1, 4096, 4500, 100_000] {
            let lines = cut(&text, size);
            let found: Vec<_> = lines
                .iter()
                .map(|line| (line.number, line.bytes.is_some()))
                .collect();
            assert_eq!(found, [(1, false), (3, true)], "{size}");
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(text: Vec<u8>, size in 1..64_usize) {
            prop_assert_eq!(cut(&text, size), cut(&text, text.len().max(1)));
        }
    }
}
