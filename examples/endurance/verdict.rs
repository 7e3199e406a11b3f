//! Whether what came back is what had to.

use http::StatusCode;
use http::header::{ALLOW, RETRY_AFTER};
use rotation_game::Board;
use rotation_game::http::Code;
use rotation_game::puzzle::{Goal, MoveSequence};
use serde_json::Value;

use crate::Result;
use crate::boards::DATABASE;
use crate::client::{Answer, X_REQUEST_ID};
use crate::contract::Contract;
use crate::requests::Asked;

/// What has to come back.
pub(crate) enum Expected {
    Status(StatusCode),
    Solution(Board, Goal),
    Problem(Code),
    /// The search does not end in time, or does not get the time to begin.
    OutOfTime,
    /// A board drawn at a distance, or any.
    Drawn(Option<u32>),
    Body(&'static str),
    Lines(Vec<Line>),
    Text {
        answers: String,
        is_wrong: bool,
    },
}

/// What has to come back of a line of a batch.
pub(crate) enum Line {
    Solution(Board),
    Problem(Code),
}

/// Whether the answer is as documented, and the right one, to the right client.
pub(crate) fn check(contract: &Contract, asked: &Asked, id: &str, answer: &Answer) -> Result<()> {
    contract.check(&asked.call, answer)?;
    if answer.header(X_REQUEST_ID) != id {
        return Err("it has the id of another request".into());
    }
    let found = answer.status;
    match &asked.expected {
        Expected::Status(status) => ensure(found == *status, "the status is another"),
        Expected::Solution(board, goal) => solves(&json(answer)?, *board, *goal),
        Expected::Problem(code) => is_problem(&json(answer)?, *code, answer),
        Expected::OutOfTime => {
            let problem = json(answer)?;
            is_problem(&problem, Code::SearchTimeout, answer)
                .or_else(|_| is_problem(&problem, Code::Overloaded, answer))
        }
        Expected::Drawn(distance) => {
            let drawn = json(answer)?;
            let board: Board = text_of(&drawn, "board").parse()?;
            let actual = DATABASE.distance(board);
            ensure(drawn["distance"] == actual, "the distance is wrong")?;
            ensure(
                distance.is_none_or(|it| it == actual),
                "the distance is another",
            )
        }
        Expected::Body(body) => ensure(answer.body == *body, "the body is another"),
        Expected::Lines(lines) => are_lines(contract, lines, std::str::from_utf8(&answer.body)?),
        Expected::Text { answers, is_wrong } => {
            let error = std::str::from_utf8(&answer.body)?
                .strip_prefix(answers.as_str())
                .ok_or("the answers are wrong")?;
            ensure(
                error.starts_with("error: board ") == *is_wrong,
                "the end is wrong",
            )?;
            ensure(error.is_empty() != *is_wrong, "there is more")
        }
    }
}

fn ensure(is_so: bool, otherwise: &str) -> Result<()> {
    if is_so { Ok(()) } else { Err(otherwise.into()) }
}

fn json(answer: &Answer) -> Result<Value> {
    Ok(serde_json::from_slice(&answer.body)?)
}

fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn is_problem(problem: &Value, code: Code, answer: &Answer) -> Result<()> {
    ensure(problem["code"] == code.as_str(), "the problem is another")?;
    ensure(answer.status == code.status(), "the status is another")?;
    let has_allow = answer.headers.contains_key(ALLOW);
    ensure(
        has_allow == (code == Code::MethodNotAllowed),
        "Allow is wrong",
    )
}

/// Returns whether an overloaded server refuses a request and says when to try again.
pub(crate) fn is_refusal(answer: &Answer) -> bool {
    answer.status == StatusCode::SERVICE_UNAVAILABLE
        && json(answer).is_ok_and(|problem| problem["code"] == Code::Overloaded.as_str())
        && answer
            .header(RETRY_AFTER)
            .parse::<u32>()
            .is_ok_and(|seconds| seconds > 0)
}

/// Whether this solves the board; under the usual goal, by the one right solution.
pub(crate) fn solves(answer: &Value, board: Board, goal: Goal) -> Result<()> {
    let moves: MoveSequence = text_of(answer, "moves").parse()?;
    ensure(answer["moves"].is_string(), "there is no solution")?;
    ensure(answer["length"] == moves.len(), "the length is wrong")?;
    let after = board.after_all(moves.as_slice());
    let centre = after
        .centre()
        .map_or(Value::Null, |value| value.get().into());
    ensure(answer["centre"] == centre, "the centre is wrong")?;
    ensure(goal.is_reached(after), "the goal is not reached")?;
    match goal {
        Goal::Centre => ensure(moves == DATABASE.solve(board).moves, "the moves are others"),
        Goal::Pattern(pattern) => ensure(
            text_of(answer, "goal") == pattern.to_string(),
            "the goal is another",
        ),
    }
}

fn are_lines(contract: &Contract, expected: &[Line], answers: &str) -> Result<()> {
    ensure(
        answers.lines().count() == expected.len(),
        "the lines are not as many",
    )?;
    for (index, (answer, expected)) in answers.lines().zip(expected).enumerate() {
        let answer: Value = serde_json::from_str(answer)?;
        contract.check_line(&answer)?;
        match expected {
            Line::Solution(board) => solves(&answer, *board, Goal::Centre)?,
            Line::Problem(code) => {
                ensure(
                    answer["code"] == code.as_str(),
                    "the problem of a line is another",
                )?;
                ensure(answer["line"] == index + 1, "the number of a line is wrong")?;
            }
        }
    }
    Ok(())
}
