use rotation_game::http::Code;
use rotation_game::puzzle::judge;
use serde_json::json;

use crate::boards::{DATABASE, Dice};
use crate::client::Call;
use crate::requests::{Asked, digits, illegal};
use crate::verdict::{Expected, Line};

/// The most lines or boards of a batch.
const BATCH: usize = 200;

/// A batch of lines, some of which are wrong.
pub(crate) fn lines(dice: &mut Dice) -> Asked {
    let (mut body, mut expected) = (String::new(), Vec::new());
    for _ in 0..=dice.below(BATCH) {
        let board = dice.board();
        let plain = digits(board).to_string();
        let (line, answer) = match dice.below(40) {
            0 => ("nonsense".to_owned(), Line::Problem(Code::MalformedJson)),
            1 => ("{}".to_owned(), Line::Problem(Code::InvalidRequest)),
            2 => (
                json!(illegal(board, dice)).to_string(),
                Line::Problem(Code::InvalidBoard),
            ),
            3 => (
                json!({"board": digits(dice.farthest()), "max_depth": 5}).to_string(),
                Line::Problem(Code::DepthCapReached),
            ),
            4 if dice.one_in(5) => (
                plain + &" ".repeat(4096),
                Line::Problem(Code::PayloadTooLarge),
            ),
            5 if dice.one_in(5) => (
                json!({"board": digits(board), "heuristic": "misplaced"}).to_string(),
                Line::Solution(board),
            ),
            _ => (plain, Line::Solution(board)),
        };
        body += &line;
        body.push('\n');
        expected.push(answer);
    }
    Asked::new(
        Call::post("/solve/batch", "application/x-ndjson", body),
        Expected::Lines(expected),
    )
}

/// A batch of the judge's text, which may end with a wrong board.
pub(crate) fn text(dice: &mut Dice) -> Asked {
    let (mut body, mut answers) = (String::new(), String::new());
    for _ in 0..dice.below(BATCH) {
        let board = dice.board();
        for value in board.cells() {
            body.push(char::from(b'0' + value.get()));
            body.push(' ');
        }
        let solution = DATABASE.solve(board);
        let answer = judge::Answer {
            moves: &solution.moves,
            centre: solution.centre,
        };
        answers += &answer.to_string();
    }
    let is_wrong = dice.one_in(4);
    if is_wrong {
        body += "1 2 3 x";
    }
    let call = Call::post("/solve/batch", "text/plain", body);
    if is_wrong && answers.is_empty() {
        return Asked::refused(call, Code::InvalidBoard);
    }
    Asked::new(call, Expected::Text { answers, is_wrong })
}
