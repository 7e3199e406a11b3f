use std::io::Write;

use crate::puzzle::judge::Answer;
use crate::puzzle::{Move, Value};
use crate::search::Solution;

/// The most bytes of answers in a chunk, in compact form, but for the last answer.
const CHUNK_ANSWERS: usize = 6 * 1024;

/// The answers of a chunk in compact form: eight bytes for an exact solution, which becomes text
/// only when the client takes it.
///
/// Each record begins with eight bytes: a packed solution, or [`TEXT`] and the length of the text
/// that follows.
#[derive(Debug, Default)]
pub(super) struct Answers {
    records: Vec<u8>,
    /// The place of the next record to be rendered.
    next: usize,
    /// How many of the answers are solutions.
    pub(super) solved: u64,
}

/// Marks a record that is text.
const TEXT: u64 = 1 << 63;

/// How solutions are written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Notation {
    Json,
    Judge,
}

impl Answers {
    /// Adds an exact solution to the default goal.
    pub(super) fn push_solution(&mut self, solution: &Solution) {
        self.solved += 1;
        self.records.extend(pack(solution).to_le_bytes());
    }

    /// Adds text as it is.
    pub(super) fn push_text(&mut self, text: &[u8]) {
        let head = TEXT | text.len() as u64;
        self.records.extend(head.to_le_bytes());
        self.records.extend(text);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next == self.records.len()
    }

    /// Returns whether no more answers belong into this chunk.
    pub(super) fn is_full(&self) -> bool {
        self.records.len() >= CHUNK_ANSWERS
    }

    /// Returns the memory of the answers, after giving back what they do not use.
    pub(super) fn shrink(&mut self) -> usize {
        self.records.shrink_to_fit();
        self.records.capacity()
    }

    /// Renders answers until `text` has at least `enough` bytes, or none are left.
    pub(super) fn render(&mut self, notation: Notation, text: &mut Vec<u8>, enough: usize) {
        while text.len() < enough
            && let Some((head, rest)) = self.records[self.next..].split_first_chunk()
        {
            self.next += head.len();
            let head = u64::from_le_bytes(*head);
            if head & TEXT == 0 {
                notation.write(&unpack(head), text);
            } else {
                let length = usize::try_from(head ^ TEXT).unwrap_or(usize::MAX);
                text.extend(&rest[..length]);
                self.next += length;
            }
        }
    }
}

impl Notation {
    fn write(self, solution: &Solution, text: &mut Vec<u8>) {
        match self {
            Self::Json => write_json(text, solution),
            Self::Judge => {
                let answer = Answer {
                    moves: &solution.moves,
                    centre: solution.centre,
                };
                write!(text, "{answer}").expect("a Vec takes all that is written");
            }
        }
    }
}

/// Writes an answer as a line of JSON.
pub(super) fn write_json(text: &mut Vec<u8>, answer: &impl serde::Serialize) {
    serde_json::to_writer(&mut *text, answer).expect("strings and numbers always serialize");
    text.push(b'\n');
}

/// Packs a solution: the centre in the lowest 2 bits, the length in 4, and each move in 3.
fn pack(solution: &Solution) -> u64 {
    let centre = solution
        .centre
        .expect("a solution to the default goal fills the centre with one value");
    let moves = solution.moves.iter().rev();
    let moves = moves.fold(0, |moves, &next| moves << 3 | next as u64);
    moves << 6 | (solution.moves.len() as u64) << 2 | u64::from(centre.get())
}

fn unpack(packed: u64) -> Solution {
    let length = packed >> 2 & 0xf;
    let moves = (0..length).map(|index| Move::ALL[(packed >> (6 + 3 * index) & 7) as usize]);
    Solution {
        moves: moves.collect(),
        centre: Value::new((packed & 3).cast_signed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Sampler;
    use crate::search::PatternDatabase;

    #[test]
    fn a_packed_solution_is_unpacked_unchanged() {
        let database = PatternDatabase::build();
        for distance in 0..=Sampler::GREATEST_DISTANCE {
            let boards = Sampler::at_distance(&database, distance).unwrap();
            for seed in 0..50 {
                let solution = database.solve(boards.draw(seed).board);
                assert_eq!(unpack(pack(&solution)), solution);
            }
        }
    }

    #[test]
    fn answers_are_rendered_in_order_in_any_portions() {
        let database = PatternDatabase::build();
        let solution = database.solve("111132323132231222312133".parse().unwrap());
        let answers = || {
            let mut answers = Answers::default();
            answers.push_solution(&solution);
            answers.push_text(b"one\n");
            answers.push_text(b"");
            answers.push_solution(&solution);
            answers
        };
        let json = r#"{"moves":"AC","length":2,"centre":2}"#;
        for (notation, expected) in [
            (Notation::Json, format!("{json}\none\n{json}\n")),
            (Notation::Judge, "AC\n2\none\nAC\n2\n".to_owned()),
        ] {
            for enough in [1, 5, 1000] {
                let (mut answers, mut text) = (answers(), Vec::new());
                while !answers.is_empty() {
                    let mut portion = Vec::new();
                    answers.render(notation, &mut portion, enough);
                    text.extend(portion);
                }
                assert_eq!(text, expected.as_bytes());
            }
        }
    }
}
