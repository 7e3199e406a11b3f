//! `GET /boards/…`: what the exact table tells of a board.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::mem;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde::{Deserialize, Serialize};

use super::AppState;
use super::caching::{FOR_A_DAY, NO_STORE, Representation};
use super::extract::{Path, Query, check_accepts};
use super::problem::{Code, FieldError, Problem};
use crate::analysis::{self, Replay, Sampler, Solutions};
use crate::puzzle::{Board, Goal, Move, MoveSequence, Value, read_moves};
use crate::search::{PatternDatabase, Solution};
use crate::service::Service;

/// The most letters of a replay.
const REPLAY_MOVES: usize = 1000;
/// The most solutions of a page.
const PAGE_LIMIT: u64 = 1000;

// The bytes of answers and of what they list, rounded up.
const BOARD_BYTES: usize = 1024;
const RANDOM_BYTES: usize = 128;
const PAGE_BYTES: usize = 256;
const SOLUTION_BYTES: usize = 40;
const STEP_BYTES: usize = 84;

/// `GET /boards/{board}`.
pub(super) async fn board(
    State(state): State<AppState>,
    Path(digits): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    check_accepts(&headers, "application/json")?;
    let board: Board = digits.parse()?;
    let service = &state.0.service;
    answer(service, &headers, move |database| {
        to_json(&analysis::rate(database, board), BOARD_BYTES)
    })
    .await
}

/// The query of `GET /boards/{board}/solutions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    #[serde(default)]
    offset: u64,
    #[serde(default = "default_limit")]
    limit: u64,
}

fn default_limit() -> u64 {
    20
}

/// A page of a board's shortest solutions.
#[derive(Debug, Serialize)]
struct SolutionsPage {
    total: u64,
    offset: u64,
    limit: u64,
    solutions: Vec<SolutionOfPage>,
    /// Where the next page is, if there is one.
    next: Option<String>,
}

/// A solution of a page: all of them are equally long.
#[derive(Debug, Serialize)]
struct SolutionOfPage {
    moves: MoveSequence,
    centre: Option<Value>,
}

impl From<Solution> for SolutionOfPage {
    fn from(Solution { moves, centre }: Solution) -> Self {
        Self { moves, centre }
    }
}

/// `GET /boards/{board}/solutions`.
pub(super) async fn solutions(
    State(state): State<AppState>,
    Path(digits): Path<String>,
    Query(Page { offset, limit }): Query<Page>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    check_accepts(&headers, "application/json")?;
    let board: Board = digits.parse()?;
    if !(1..=PAGE_LIMIT).contains(&limit) {
        return Err(Problem::invalid_request(vec![FieldError {
            pointer: "/limit".to_owned(),
            detail: format!("limit is {limit}, not from 1 to {PAGE_LIMIT}"),
        }]));
    }
    let service = &state.0.service;
    let bytes = PAGE_BYTES + SOLUTION_BYTES * usize::try_from(limit).unwrap_or_default();
    answer(service, &headers, move |database| {
        let solutions = Solutions::new(database, board);
        let total = solutions.total();
        let end = offset.saturating_add(limit);
        let on_page = solutions.starting_at(offset).zip(0..limit);
        let page = SolutionsPage {
            total,
            offset,
            limit,
            solutions: on_page.map(|(solution, _)| solution.into()).collect(),
            next: (end < total)
                .then(|| format!("/boards/{board}/solutions?offset={end}&limit={limit}")),
        };
        to_json(&page, bytes)
    })
    .await
}

/// The query of `GET /boards/{board}/replay/{moves}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayGoal {
    goal: Option<String>,
}

/// `GET /boards/{board}/replay/{moves}`.
pub(super) async fn replay(
    State(state): State<AppState>,
    Path((digits, letters)): Path<(String, String)>,
    Query(ReplayGoal { goal }): Query<ReplayGoal>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    check_accepts(&headers, "application/json")?;
    let board: Board = digits.parse()?;
    let moves = checked_moves(&letters)?;
    let goal: Option<Goal> = goal.as_deref().map(str::parse).transpose()?;
    let service = &state.0.service;
    answer(service, &headers, move |database| {
        replay_to_json(analysis::replay(database, board, &moves, goal))
    })
    .await
}

/// Writes the JSON that a replay serializes to.
///
/// Its steps are written without the serializer, which would take half of the time that a long
/// replay takes.
fn replay_to_json(mut replay: Replay) -> Vec<u8> {
    let steps = mem::take(&mut replay.steps);
    let mut json = to_json(&replay, PAGE_BYTES + STEP_BYTES * steps.len());
    assert!(json.ends_with(b"\"steps\":[]}"), "steps are the last field");
    json.truncate(json.len() - b"]}".len());
    for (index, step) in steps.iter().enumerate() {
        if index > 0 {
            json.push(b',');
        }
        json.extend_from_slice(b"{\"move\":\"");
        json.push(step.made.letter() as u8);
        json.extend_from_slice(b"\",\"board\":\"");
        json.extend_from_slice(&step.board.digits());
        json.extend_from_slice(b"\",\"distance\":");
        json.extend_from_slice(itoa::Buffer::new().format(step.distance).as_bytes());
        json.extend_from_slice(b",\"effect\":\"");
        json.extend_from_slice(step.effect.as_str().as_bytes());
        json.extend_from_slice(b"\"}");
    }
    json.extend_from_slice(b"]}");
    json
}

/// Reads moves; each letter that is no move is an error of its own.
fn checked_moves(letters: &str) -> Result<Vec<Move>, Problem> {
    let count = letters.chars().count();
    if count > REPLAY_MOVES {
        return Err(Problem::invalid_request(vec![FieldError {
            pointer: "/moves".to_owned(),
            detail: format!("here are {count} moves, more than {REPLAY_MOVES}"),
        }]));
    }
    read_moves(letters).map_err(|errors| Problem::invalid(Code::InvalidRequest, errors.iter()))
}

/// The query of `GET /boards/random`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Draw {
    distance: Option<u32>,
    seed: Option<u64>,
}

/// `GET /boards/random`.
pub(super) async fn random(
    State(state): State<AppState>,
    Query(Draw { distance, seed }): Query<Draw>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    check_accepts(&headers, "application/json")?;
    if let Some(distance) = distance
        && distance > Sampler::GREATEST_DISTANCE
    {
        return Err(Problem::invalid_request(vec![FieldError {
            pointer: "/distance".to_owned(),
            detail: format!(
                "distance is {distance}, not from 0 to {}",
                Sampler::GREATEST_DISTANCE
            ),
        }]));
    }
    let is_pure = seed.is_some();
    let seed = seed.unwrap_or_else(new_seed);
    let shared = Arc::clone(&state.0);
    let draw = move |database: &PatternDatabase| {
        let sampler = match distance {
            None => Sampler::of_all(database),
            Some(distance) => shared
                .samplers
                .at_distance(database, distance)
                .expect("the distance is in range"),
        };
        to_json(&sampler.draw(seed), RANDOM_BYTES)
    };
    let service = &state.0.service;
    if is_pure {
        return answer(service, &headers, draw).await;
    }
    let body = service.lookup(draw).await?;
    Ok((
        [(CACHE_CONTROL, NO_STORE), (CONTENT_TYPE, super::JSON)],
        body,
    )
        .into_response())
}

/// A seed that JavaScript can hold: below 2^53.
fn new_seed() -> u64 {
    RandomState::new().hash_one(()) >> 11
}

/// Writes JSON of about so many bytes: a long answer that grows is copied again and again.
fn to_json(answer: &impl Serialize, bytes: usize) -> Vec<u8> {
    let mut json = Vec::with_capacity(bytes);
    serde_json::to_writer(&mut json, answer).expect("strings, numbers and lists always serialize");
    json
}

/// Answers with JSON that depends on the URL alone, so that clients may keep it.
///
/// All work on the answer is done where `question` runs, on a thread that may block.
async fn answer(
    service: &Service,
    headers: &HeaderMap,
    question: impl FnOnce(&PatternDatabase) -> Vec<u8> + Send + 'static,
) -> Result<Response, Problem> {
    let representation = service
        .lookup(move |database| Representation::new(super::JSON, FOR_A_DAY, question(database)));
    Ok(representation.await?.respond(headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_written_as_it_serializes() {
        let database = PatternDatabase::build();
        let board: Board = "112323233232111211122333".parse().unwrap();
        for count in [0, 1, 2, 1000] {
            let moves: Vec<Move> = Move::ALL.into_iter().cycle().take(count).collect();
            for goal in [None, Some(Goal::Centre)] {
                let replay = analysis::replay(&database, board, &moves, goal);
                let expected = serde_json::to_string(&replay).unwrap();
                let written = String::from_utf8(replay_to_json(replay)).unwrap();
                assert_eq!(written, expected);
            }
        }
    }
}
