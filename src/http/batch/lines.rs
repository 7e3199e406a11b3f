use axum::body::Bytes;

/// The most bytes of a line.
pub(super) const LINE_LIMIT: usize = 4 * 1024;

/// Cuts what comes into lines, without holding more than one that is not yet whole.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The number of the last line, counted from 1.
    number: u64,
    /// The beginning of the next one, at most one byte more than a line may have.
    partial: Vec<u8>,
    /// Whether it has anything but white space so far, in what is not kept too.
    has_content: bool,
}

/// A line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    /// Its bytes, or `None` if it has more than [`LINE_LIMIT`].
    pub(super) bytes: Option<Bytes>,
}

impl Lines {
    /// The number of the line that comes next.
    pub(super) fn next_number(&self) -> u64 {
        self.number + 1
    }

    /// The lines that these bytes complete.
    pub(super) fn push(&mut self, mut bytes: Bytes) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let rest = bytes.split_off(end + 1);
            bytes.truncate(end);
            let line = if self.partial.is_empty() {
                self.has_content = has_content(&bytes);
                bytes
            } else {
                self.keep(&bytes);
                std::mem::take(&mut self.partial).into()
            };
            lines.extend(self.line(line));
            bytes = rest;
        }
        self.keep(&bytes);
        lines
    }

    /// The line that the end of the input completes.
    pub(super) fn finish(&mut self) -> Option<Line> {
        let partial = std::mem::take(&mut self.partial);
        self.line(partial.into())
    }

    /// Keeps as much as is needed to see that the line is too long.
    fn keep(&mut self, bytes: &[u8]) {
        self.has_content |= has_content(bytes);
        let room = LINE_LIMIT + 1 - self.partial.len();
        self.partial
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn line(&mut self, bytes: Bytes) -> Option<Line> {
        self.number += 1;
        std::mem::take(&mut self.has_content).then(|| Line {
            number: self.number,
            bytes: (bytes.len() <= LINE_LIMIT).then_some(bytes),
        })
    }
}

fn has_content(bytes: &[u8]) -> bool {
    !bytes.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The lines of a text that comes in pieces.
    fn cut(text: &[u8], size: usize) -> Vec<Line> {
        let mut lines = Lines::default();
        let mut cut = Vec::new();
        for piece in text.chunks(size) {
            cut.extend(lines.push(Bytes::copy_from_slice(piece)));
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
