//! Moves, and what they do to a board.

use std::fmt::Write;

use axum::body::Body;
use http::Request;
use rotation_game::analysis::{Effect, replay};
use rotation_game::http::Code;
use rotation_game::puzzle::{Goal, read_moves};
use rotation_game::{Board, InvalidMoves, Move, MoveSequence, Value};

use super::client::{Told, call};
use super::{DATABASE, plain};

/// The most bytes that a URL of these has room for.
const INPUT_LIMIT: usize = 4096;

/// The most moves of the route.
const ROUTE_MOVES: usize = 1000;

/// Reads a board, moves and a goal, one a line, and replays them.
pub(crate) fn check(input: &[u8]) {
    let input = &input[..input.len().min(INPUT_LIMIT)];
    let text = String::from_utf8_lossy(input);
    let mut lines = text.splitn(3, '\n');
    let digits = lines.next().unwrap_or_default();
    let letters = lines.next().unwrap_or_default();
    let goal = lines.next();
    let moves = read(letters);
    if let Ok(moves) = &moves {
        let goal = goal.filter(|goal| plain::is_goal(goal));
        let cells = plain::legal(&plain::numbers(digits)).unwrap_or_else(|| plain::shuffled(input));
        replayed(&cells, &letters.to_ascii_uppercase(), moves, goal);
    }
    route(digits, letters, moves.ok(), goal);
}

/// The moves, or every letter that is none.
fn read(letters: &str) -> Result<Vec<Move>, Vec<InvalidMoves>> {
    let read = read_moves(letters);
    let is_move = |letter: char| "ABCDEFGHabcdefgh".contains(letter);
    let bad: Vec<InvalidMoves> = letters
        .chars()
        .enumerate()
        .filter(|&(_, found)| !is_move(found))
        .map(|(index, found)| InvalidMoves::Letter { index, found })
        .collect();
    match &read {
        Ok(moves) => {
            assert_eq!(bad, []);
            assert_eq!(
                moves.iter().map(Move::to_string).collect::<String>(),
                letters.to_ascii_uppercase()
            );
        }
        Err(errors) => assert_eq!(*errors, bad),
    }
    // A sequence holds a few, and is told of the first letter that is wrong.
    let expected = match bad.first() {
        Some(first @ InvalidMoves::Letter { index, .. }) if *index < MoveSequence::CAPACITY => {
            Err(first.clone())
        }
        _ if letters.chars().count() > MoveSequence::CAPACITY => Err(InvalidMoves::TooLong),
        _ => Ok(letters.to_ascii_uppercase()),
    };
    let sequence = letters.parse::<MoveSequence>();
    assert_eq!(sequence.map(|moves| moves.to_string()), expected);
    read
}

/// Each step is the statement's, and is rated by the distances before and after it.
fn replayed(cells: &plain::Cells, letters: &str, moves: &[Move], goal: Option<&str>) {
    let board: Board = plain::print(cells).parse().unwrap();
    let read_goal = goal.map(|goal| goal.parse().unwrap());
    let replayed = replay(&DATABASE, board, moves, read_goal);
    assert_eq!(replayed.steps.len(), moves.len());
    let (mut here, mut distance) = (*cells, DATABASE.distance(board));
    let mut boards = vec![here];
    for (step, letter) in replayed.steps.iter().zip(letters.chars()) {
        here = plain::after(here, letter).unwrap();
        boards.push(here);
        assert_eq!(step.made.letter(), letter);
        assert_eq!(step.board.to_string(), plain::print(&here));
        assert_eq!(step.distance, DATABASE.distance(step.board));
        let expected = match step.effect {
            Effect::Closer => step.distance + 1,
            Effect::Same => step.distance,
            Effect::Farther => step.distance - 1,
        };
        assert_eq!(distance, expected, "{board} {letters}");
        distance = step.distance;
    }
    let solution = DATABASE.solve(board).moves;
    let centre = plain::centre(&here);
    assert_eq!(replayed.board.to_string(), plain::print(&here));
    assert_eq!(replayed.centre.map(Value::get), centre);
    assert_eq!(replayed.solved, centre.is_some());
    assert_eq!(replayed.solved, distance == 0);
    assert_eq!(replayed.distance, distance);
    let is_shortest = moves.len() == solution.len();
    assert_eq!(replayed.optimal, replayed.solved && is_shortest);
    assert_eq!(
        replayed.lexicographically_smallest,
        solution.to_string() == letters
    );
    let reached_after =
        goal.and_then(|goal| boards.iter().position(|cells| plain::reaches(cells, goal)));
    assert_eq!(replayed.goal.is_some(), goal.is_some());
    if let Some(told) = replayed.goal {
        assert_eq!(told.reached_after, reached_after);
        assert_eq!(told.reached, reached_after.is_some());
    }
}

/// The route tells what the library does, or what is wrong first.
fn route(digits: &str, letters: &str, moves: Option<Vec<Move>>, goal: Option<&str>) {
    let query = goal.map(|goal| format!("?goal={}", encoded(goal)));
    let path = format!(
        "/boards/{}/replay/{}{}",
        encoded(digits),
        encoded(letters),
        query.unwrap_or_default()
    );
    let told = call(Request::get(&path).body(Body::empty()).unwrap()).told();
    let moves = moves.filter(|moves| moves.len() <= ROUTE_MOVES);
    let goal: Option<Option<Goal>> = match goal {
        Some(goal) => goal.parse().map(Some).ok(),
        None => Some(None),
    };
    let expected = match (digits.parse(), moves, goal) {
        _ if letters.is_empty() => Err(Code::NotFound),
        (Ok(board), Some(moves), Some(goal)) => Ok(replay(&DATABASE, board, &moves, goal)),
        (Err(_), ..) => Err(Code::InvalidBoard),
        (_, None, _) => Err(Code::InvalidRequest),
        (.., None) => Err(Code::InvalidGoal),
    };
    match (told, expected) {
        (told, _) if told.gave_up() => {}
        (Told::Answer(answer), Ok(replay)) => {
            assert_eq!(answer, serde_json::to_value(replay).unwrap(), "{path}");
        }
        (Told::Problem(code, body), Err(expected)) => assert_eq!(code, expected, "{path} {body}"),
        (told, expected) => panic!("{path} {told:?} {expected:?}"),
    }
}

/// Every byte is written as `%` and two digits.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        let _ = write!(encoded, "%{byte:02X}");
    }
    encoded
}
