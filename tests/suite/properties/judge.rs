//! The judge's text.

use rotation_game::Board;
use rotation_game::puzzle::judge::{InputError, Position, Reader};

use super::{pieces, plain};

/// Reads the input in one piece, byte by byte and in pieces, which comes to the same.
pub(crate) fn check(input: &[u8]) {
    let read = Read::new(&[input]);
    assert_eq!(Read::new(&pieces(input)), read);
    assert_eq!(Read::new(&input.chunks(1).collect::<Vec<_>>()), read);
    assert_eq!(
        expected(input),
        (
            read.boards.clone(),
            read.error.as_ref().map(|error| error.position)
        )
    );
    let printed: Vec<String> = read
        .boards
        .iter()
        .map(|(board, _)| spaced(*board))
        .collect();
    let again = Read::new(&[printed.join("\n").as_bytes()]);
    assert_eq!(again.error, None);
    let boards = |read: &Read| {
        read.boards
            .iter()
            .map(|(board, _)| *board)
            .collect::<Vec<_>>()
    };
    assert_eq!(boards(&again), boards(&read));
}

/// What comes of an input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) boards: Vec<(Board, Position)>,
    pub(super) error: Option<InputError>,
    /// How many bytes were read.
    length: usize,
}

impl Read {
    pub(super) fn new(pieces: &[&[u8]]) -> Self {
        let mut reader = Reader::default();
        let (mut boards, mut length) = (Vec::new(), 0);
        let mut read_all = || -> Result<(), InputError> {
            for piece in pieces {
                let mut rest = *piece;
                let read = loop {
                    let next = reader.next(&mut rest);
                    match next {
                        Ok(Some(board)) => boards.push((board, reader.position())),
                        other => break other,
                    }
                };
                length += piece.len() - rest.len();
                read?;
                assert!(rest.is_empty() || reader.has_ended());
            }
            if let Some(board) = reader.finish()? {
                boards.push((board, reader.position()));
            }
            Ok(())
        };
        let error = read_all().err();
        // The end, or an error, is the end.
        let ended = reader.has_ended();
        assert!(ended || error.is_none());
        let mut more: &[u8] = b"1 2 3 ";
        assert_eq!(reader.next(&mut more), Ok(None));
        assert_eq!(more.len(), if ended { 6 } else { 0 });
        if ended {
            assert_eq!(reader.finish(), Ok(None));
        }
        Self {
            boards,
            error,
            length,
        }
    }
}

/// The boards that the text tells when it lies there whole, and where it is wrong.
fn expected(input: &[u8]) -> (Vec<(Board, Position)>, Option<Position>) {
    let position = |board: usize, offset: usize| {
        let before = &input[..offset];
        let line_start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        let count = |bytes: &[u8], is: fn(&u8) -> bool| {
            bytes.iter().filter(|&byte| is(byte)).count() as u64
        };
        Position {
            board: board as u64,
            line: 1 + count(before, |&byte| byte == b'\n'),
            column: 1 + count(&before[line_start..], |&byte| !(0x80..0xc0).contains(&byte)),
        }
    };
    let tokens: Vec<(usize, Option<i64>)> = tokens(input);
    let mut boards = Vec::new();
    let mut rest = &tokens[..];
    while let Some(&(start, first)) = rest.first() {
        let digits = first.is_none().then(|| digits(input, start)).flatten();
        let tokens = match &digits {
            Some(digits) => digits,
            None => &rest[..rest.len().min(24)],
        };
        rest = &rest[if digits.is_some() { 1 } else { tokens.len() }..];
        let number = boards.len() + 1;
        if first == Some(0) {
            break;
        }
        let bad = tokens
            .iter()
            .find(|(_, number)| !matches!(number, Some(1..=3)));
        let board = Board::from_numbers(tokens.iter().map(|(_, number)| number.unwrap_or(0)));
        match board {
            Ok(board) => boards.push((board, position(number, start))),
            Err(_) if tokens.len() < 24 => return (boards, Some(position(number, input.len()))),
            Err(_) => {
                let (offset, _) = bad.unwrap_or(&tokens[0]);
                return (boards, Some(position(number, *offset)));
            }
        }
    }
    (boards, None)
}

/// The cells of a word that is 24 digits, each with where it stands.
fn digits(input: &[u8], start: usize) -> Option<Vec<(usize, Option<i64>)>> {
    let end = input.len().min(start + 25);
    let (word, behind) = input[start..end].split_at_checked(24)?;
    let is_word = behind.iter().all(|byte| b" \t\n\x0b\x0c\r".contains(byte));
    let digits = word.iter().zip(start..);
    let digits = digits.map(|(&byte, at)| Some((at, Some(char::from(byte).to_digit(10)?.into()))));
    digits.collect::<Option<_>>().filter(|_| is_word)
}

/// What stands between white space: where it starts, and the number that it is.
fn tokens(input: &[u8]) -> Vec<(usize, Option<i64>)> {
    let mut tokens = Vec::new();
    let text = plain::unmarked(input);
    let mut start = input.len() - text.len();
    for token in text.split(|byte| b" \t\n\x0b\x0c\r".contains(byte)) {
        if !token.is_empty() {
            let number = std::str::from_utf8(token)
                .ok()
                .and_then(|token| token.parse().ok());
            // No longer numeral is a number, not even one with leading zeros.
            tokens.push((start, number.filter(|_| token.len() <= 24)));
        }
        start += token.len() + 1;
    }
    tokens
}

/// A board as the judge writes it.
fn spaced(board: Board) -> String {
    let cells = board.cells().map(|value| value.to_string());
    cells.join(" ")
}
