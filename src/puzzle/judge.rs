//! The text format of the online judges.
//!
//! Input: boards of 24 integers in cell order, separated by any white space. It ends at a board
//! whose first number is 0, or with the text. A UTF-8 byte order mark before it is skipped. A board
//! may also be one word of 24 digits. Output: two lines a board, the moves (or
//! `No moves needed`), then the value in the centre.

use std::fmt;

use thiserror::Error;

use super::{BYTE_ORDER_MARK, Board, CELLS, Draft, Fault, IllegalBoard, MoveSequence, Value};

/// Reads the judge's input from pieces of text as they come, without holding on to them.
///
/// ```
/// use rotation_game::puzzle::judge::Reader;
///
/// let mut reader = Reader::default();
/// let mut text: &[u8] = b"1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3";
/// assert_eq!(reader.next(&mut text), Ok(None), "the last cell is still to come");
/// let mut text: &[u8] = b" 3\n0\n";
/// let board = reader.next(&mut text)?.expect("24 cells have come");
/// assert_eq!(board.to_string(), "111132323132231222312133");
/// assert_eq!(reader.next(&mut text), Ok(None));
/// assert!(reader.has_ended());
/// # Ok::<(), rotation_game::puzzle::judge::InputError>(())
/// ```
#[derive(Debug, Default)]
pub struct Reader {
    /// How many boards have been read.
    boards: u64,
    here: Place,
    draft: Draft,
    /// Where the present board starts.
    start: Place,
    /// Where the first cell of the present board that is no value starts.
    first_fault: Option<Place>,
    token: Option<Token>,
    ended: bool,
}

impl Reader {
    /// The next board that is complete in `text`, which moves on behind it; `None` where all of
    /// the text has been read, or the input has [ended](Reader::has_ended).
    ///
    /// # Errors
    /// The next 24 numbers are not a legal board. The input then has ended.
    pub fn next(&mut self, text: &mut &[u8]) -> Result<Option<Board>, InputError> {
        while let Some((&byte, rest)) = text.split_first() {
            if self.ended {
                break;
            }
            // Nearly all text is digits with single spaces, which need no token. The first and the
            // last cell of a board do more than be pushed.
            if let (None, 1..LAST_CELL, Some(value), Some((b' ', rest))) = (
                &self.token,
                self.draft.len(),
                Value::new(i64::from(byte) - i64::from(b'0')),
                rest.split_first(),
            ) {
                self.draft.push(value);
                self.here.column += 2;
                *text = rest;
                continue;
            }
            *text = rest;
            if is_space(byte) {
                let board = self.end_token();
                self.here.pass(byte);
                if let Some(board) = board? {
                    return Ok(Some(board));
                }
            } else {
                let here = self.here;
                let token = self.token.get_or_insert_with(|| Token::new(here));
                token.push(byte);
                if token.is_byte_order_mark() {
                    self.token = None;
                }
                self.here.pass(byte);
            }
        }
        Ok(None)
    }

    /// The board that the end of the text completes, if any.
    ///
    /// # Errors
    /// The text ends within a board, or the last 24 numbers are not a legal board.
    pub fn finish(&mut self) -> Result<Option<Board>, InputError> {
        if let Some(board) = self.end_token()? {
            return Ok(Some(board));
        }
        if self.ended || self.draft.is_empty() {
            return Ok(None);
        }
        self.end_board(self.here).map(Some)
    }

    /// Whether nothing more is read: the terminating 0 has come, or an error.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Where the board that was read last starts.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position_at(self.start)
    }

    fn end_token(&mut self) -> Result<Option<Board>, InputError> {
        let Some(token) = self.token.take() else {
            return Ok(None);
        };
        let number = token.number();
        if self.draft.is_empty() {
            if number == Some(0) {
                self.ended = true;
                return Ok(None);
            }
            self.start = token.place;
            self.boards += 1;
        }
        if let Some(value) = number.and_then(Value::new) {
            self.draft.push(value);
        } else if self.draft.is_empty() && number.is_none() && token.is_board() {
            self.push_digits(&token);
        } else {
            self.first_fault.get_or_insert(token.place);
            self.draft.push_fault(token.to_string());
        }
        if self.draft.len() < CELLS {
            return Ok(None);
        }
        self.end_board(self.first_fault.unwrap_or(self.start))
            .map(Some)
    }

    /// Puts each digit of a token into a cell. Kept out of the way of boards of numbers.
    #[cold]
    fn push_digits(&mut self, token: &Token) {
        let mut place = token.place;
        for &digit in token.beginning() {
            let number = i64::from(digit - b'0');
            if Value::new(number).is_none() {
                self.first_fault.get_or_insert(place);
            }
            self.draft.push_number(number);
            place.column += 1;
        }
    }

    fn end_board(&mut self, place_of_fault: Place) -> Result<Board, InputError> {
        std::mem::take(&mut self.draft).finish().map_err(|illegal| {
            self.ended = true;
            InputError {
                position: self.position_at(place_of_fault),
                illegal,
            }
        })
    }

    fn position_at(&self, place: Place) -> Position {
        Position {
            board: self.boards,
            line: place.line,
            column: place.column,
        }
    }
}

/// A place in the judge's input, all numbers counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The number of the board.
    pub board: u64,
    /// The line of the text.
    pub line: u64,
    /// The column in that line, in characters.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            board,
            line,
            column,
        } = self;
        write!(f, "board {board}, line {line}, column {column}")
    }
}

/// A board of the judge's input is not legal, or the input ends within it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct InputError {
    /// Where the input ends, if it ends early; else the first bad cell; else, where only the counts
    /// are wrong, the first cell.
    pub position: Position,
    /// What is wrong with the board.
    pub illegal: IllegalBoard,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, illegal } = self;
        // The reader ends a board at its 24th number, so one of another length was cut short.
        let cut_short = illegal
            .faults()
            .iter()
            .any(|fault| matches!(fault, Fault::Length { .. }));
        let cause = if cut_short {
            "the input ends early: "
        } else {
            ""
        };
        write!(f, "{position}: {cause}{illegal}")
    }
}

/// The two lines that the judge expects for a board.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The moves.
    pub moves: &'a MoveSequence,
    /// The value in the centre after them, if there is but one; printed as `-` where there is not.
    pub centre: Option<Value>,
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.moves.is_empty() {
            f.write_str("No moves needed")?;
        } else {
            self.moves.fmt(f)?;
        }
        match self.centre {
            Some(centre) => write!(f, "\n{centre}\n"),
            None => f.write_str("\n-\n"),
        }
    }
}

/// The index of the last cell of a board.
const LAST_CELL: usize = CELLS - 1;

/// White space as the C library's `scanf` knows it.
fn is_space(byte: u8) -> bool {
    const VERTICAL_TAB: u8 = 0x0b;
    byte.is_ascii_whitespace() || byte == VERTICAL_TAB
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    line: u64,
    column: u64,
}

impl Default for Place {
    fn default() -> Self {
        Self { line: 1, column: 1 }
    }
}

impl Place {
    fn pass(&mut self, byte: u8) {
        if byte == b'\n' {
            self.line += 1;
            self.column = 1;
        } else if !is_utf8_continuation(byte) {
            self.column += 1;
        }
    }
}

fn is_utf8_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// A run of characters that are not white space, however long, of which the beginning is kept.
#[derive(Debug)]
struct Token {
    place: Place,
    beginning: [u8; Self::KEPT],
    len: usize,
}

impl Token {
    /// How many bytes are kept: a board. What is longer does not count as a number.
    const KEPT: usize = CELLS;

    fn new(place: Place) -> Self {
        Self {
            place,
            beginning: [0; Self::KEPT],
            len: 0,
        }
    }

    fn push(&mut self, byte: u8) {
        if let Some(kept) = self.beginning.get_mut(self.len) {
            *kept = byte;
        }
        self.len += 1;
    }

    /// Returns whether this is 24 digits. If they have leading zeros, they may be a number as well.
    fn is_board(&self) -> bool {
        self.len == CELLS && self.beginning().iter().all(u8::is_ascii_digit)
    }

    /// Returns whether this is a byte order mark at the start of the input.
    fn is_byte_order_mark(&self) -> bool {
        self.place == Place::default() && self.beginning() == BYTE_ORDER_MARK
    }

    fn beginning(&self) -> &[u8] {
        &self.beginning[..self.len.min(Self::KEPT)]
    }

    fn number(&self) -> Option<i64> {
        match *self.beginning() {
            [digit @ b'0'..=b'9'] => Some(i64::from(digit - b'0')),
            _ if self.len > Self::KEPT => None,
            ref text => std::str::from_utf8(text).ok()?.parse().ok(),
        }
    }
}

/// A number as it is, anything else in quotes.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.number() {
            return number.fmt(f);
        }
        let beginning = String::from_utf8_lossy(self.beginning());
        let ellipsis = if self.len > Self::KEPT { "…" } else { "" };
        write!(f, "{beginning:?}{ellipsis}")
    }
}

#[cfg(test)]
mod tests;
