//! `POST /solve`.

use std::collections::HashSet;
use std::fmt;

use rotation_game::Board;
use rotation_game::http::Code;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::client::{MAX_DEPTH, SEARCH_TIMEOUT_MS, Told, post};
use super::{DATABASE, pieces, plain};

/// Up to how many moves a plain search is no matter.
const SHORT: usize = 3;

/// The fields that may be absent.
const FIELDS: [&str; 5] = ["goal", "max_depth", "explain", "timeout_ms", "heuristic"];

/// The most bytes of a body.
const BODY_LIMIT: usize = 4096;

/// Sends the input whole and in pieces, which comes to the same, and holds the answer against what
/// the input asks.
pub(crate) fn check(input: &[u8]) {
    let told = ask(&[input]);
    let again = ask(&pieces(input));
    assert!(told.is_as(&again), "{told:?}\n{again:?}");
    let json = plain::unmarked(input);
    let value = serde_json::from_slice(json);
    match (&told, value) {
        (Told::Problem(code, _), _) if input.len() > BODY_LIMIT => {
            assert_eq!(*code, Code::PayloadTooLarge);
        }
        // Something else may be wrong before it is no JSON.
        (Told::Problem(code, _), Err(_)) => {
            let is_expected = matches!(code, Code::MalformedJson | Code::InvalidRequest);
            assert!(is_expected, "{told:?}");
        }
        (_, Ok(_)) if repeats_a_field(json) => {
            let is_expected = matches!(told, Told::Problem(Code::InvalidRequest, _));
            assert!(is_expected, "{told:?}");
        }
        (_, Ok(value)) => answers(&told, &value),
        (Told::Answer(_), Err(error)) => panic!("{told:?} to what is no JSON: {error}"),
    }
}

/// Whether JSON is an object that has a field twice, of which a [`Value`] keeps the last.
fn repeats_a_field(json: &[u8]) -> bool {
    struct NameVisitor;

    impl<'de> Visitor<'de> for NameVisitor {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
            let mut names = Vec::new();
            while let Some((name, IgnoredAny)) = map.next_entry()? {
                names.push(name);
            }
            Ok(names)
        }
    }

    let names = serde_json::Deserializer::from_slice(json).deserialize_map(NameVisitor);
    names.is_ok_and(|names| names.iter().collect::<HashSet<_>>().len() < names.len())
}

pub(super) fn ask(pieces: &[&[u8]]) -> Told {
    post("/solve", "application/json", pieces).told()
}

/// Whether this is the answer to that request.
pub(super) fn answers(told: &Told, request: &Value) {
    let asked = Asked::new(request);
    match (told, asked) {
        (Told::Problem(code, body), Err(expected)) => {
            assert_eq!(*code, expected, "{request} {body}");
            for error in body["errors"].as_array().unwrap() {
                let pointer = error["pointer"].as_str().unwrap();
                let is_there = request.pointer(pointer).is_some();
                assert!(
                    is_there || *code != Code::InvalidRequest,
                    "{request} {body}"
                );
            }
        }
        (Told::Problem(code, body), Ok(asked)) => {
            let bound = body["lower_bound"].as_u64().unwrap_or(0);
            let bound = usize::try_from(bound).unwrap();
            assert!(asked.is_bounded_by(bound), "{request} {body}");
            match code {
                Code::DepthCapReached => assert!(bound > asked.max_depth as usize, "{body}"),
                Code::SearchTimeout | Code::Overloaded => {}
                _ => panic!("{request} {body}"),
            }
        }
        (Told::Answer(answer), Ok(asked)) => asked.is_solved_by(answer),
        (Told::Answer(answer), Err(code)) => panic!("{code:?} expected, {request} {answer}"),
    }
}

/// A request in which nothing is wrong.
struct Asked<'a> {
    cells: plain::Cells,
    goal: &'a str,
    max_depth: u32,
    explain: bool,
}

impl<'a> Asked<'a> {
    /// What a request asks, or what is wrong with it.
    fn new(request: &'a Value) -> Result<Self, Code> {
        let (numbers, goal, max_depth, explain) = fields(request).ok_or(Code::InvalidRequest)?;
        let cells = plain::legal(&numbers).ok_or(Code::InvalidBoard)?;
        if !plain::is_goal(goal) {
            return Err(Code::InvalidGoal);
        }
        Ok(Self {
            cells,
            goal,
            max_depth,
            explain,
        })
    }

    fn is_solved_by(&self, answer: &Value) {
        let moves = answer["moves"].as_str().unwrap();
        let after = moves.chars().try_fold(self.cells, plain::after).unwrap();
        assert!(plain::reaches(&after, self.goal), "{answer}");
        assert_eq!(
            answer["centre"].as_u64(),
            plain::centre(&after).map(u64::from)
        );
        assert_eq!(answer["length"], moves.len());
        assert_eq!(answer["search"].is_object(), self.explain, "{answer}");
        assert!(moves.len() <= self.max_depth as usize, "{answer}");
        match self.shortest() {
            Some(shortest) => assert_eq!(moves, shortest, "{answer}"),
            None => assert!(moves.len() > SHORT, "{answer}"),
        }
    }

    /// Whether this many moves are no more than the shortest solution has.
    fn is_bounded_by(&self, bound: usize) -> bool {
        let shortest = self.shortest();
        shortest.is_none_or(|shortest| bound <= shortest.len())
    }

    /// The shortest solution, where it is short or the goal is the usual one.
    fn shortest(&self) -> Option<String> {
        let plain = plain::first(self.cells, self.goal, SHORT);
        if self.goal != "centre" {
            return plain;
        }
        let board: Board = plain::print(&self.cells).parse().unwrap();
        let known = DATABASE.solve(board).moves.to_string();
        match plain {
            Some(plain) => assert_eq!(plain, known, "{board}"),
            None => assert!(known.len() > SHORT, "{board}"),
        }
        Some(known)
    }
}

/// The board, the goal, the cap and whether to explain, where every field has the right shape.
fn fields(request: &Value) -> Option<(Vec<i64>, &str, u32, bool)> {
    let (mut numbers, mut goal, mut max_depth, mut explain) = (None, "centre", MAX_DEPTH, false);
    for (name, value) in request.as_object()? {
        if value.is_null() && FIELDS.contains(&name.as_str()) {
            continue;
        }
        match name.as_str() {
            "board" => numbers = Some(board(value)?),
            "goal" => goal = value.as_str()?,
            "max_depth" => max_depth = at_most(value, 0, MAX_DEPTH)?,
            "explain" => explain = value.as_bool()?,
            "timeout_ms" if at_most(value, 1, SEARCH_TIMEOUT_MS).is_some() => {}
            "heuristic" if *value == "pattern-database" || *value == "misplaced" => {}
            _ => return None,
        }
    }
    Some((numbers?, goal, max_depth, explain))
}

/// The numbers of a board, legal or not.
fn board(value: &Value) -> Option<Vec<i64>> {
    match value {
        Value::String(digits) => Some(plain::numbers(digits)),
        Value::Array(numbers) => numbers.iter().map(integer).collect(),
        _ => None,
    }
}

/// An option, lowered to its maximum.
fn at_most(value: &Value, minimum: u32, maximum: u32) -> Option<u32> {
    let value = integer(value)?.min(maximum.into());
    u32::try_from(value).ok().filter(|&value| value >= minimum)
}

/// An integer, `13.0` too, saturated.
#[expect(clippy::cast_possible_truncation, reason = "it saturates")]
fn integer(value: &Value) -> Option<i64> {
    let number = value.as_f64()?;
    (number.fract() == 0.0).then_some(number as i64)
}
