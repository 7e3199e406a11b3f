//! `GET /boards/…`: what the exact table tells of a board.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
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
use crate::analysis::{self, Sampler, Solutions};
use crate::puzzle::{Board, Goal, Move, MoveSequence, Value, read_moves};
use crate::search::Solution;

/// The most letters of a replay.
const REPLAY_MOVES: usize = 1000;
/// The most solutions of a page.
const PAGE_LIMIT: u64 = 1000;

/// `GET /boards/{board}`.
pub(super) async fn board(
    State(state): State<AppState>,
    Path(digits): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    check_accepts(&headers, "application/json")?;
    let board: Board = digits.parse()?;
    let service = &state.0.service;
    let rating = service
        .lookup(move |database| analysis::rate(database, board))
        .await?;
    Ok(pure(&headers, &rating))
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
    let page = service.lookup(move |database| {
        let solutions = Solutions::new(database, board);
        let total = solutions.total();
        let end = offset.saturating_add(limit);
        let on_page = solutions.starting_at(offset).zip(0..limit);
        SolutionsPage {
            total,
            offset,
            limit,
            solutions: on_page.map(|(solution, _)| solution.into()).collect(),
            next: (end < total)
                .then(|| format!("/boards/{board}/solutions?offset={end}&limit={limit}")),
        }
    });
    Ok(pure(&headers, &page.await?))
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
    let replay = service.lookup(move |database| analysis::replay(database, board, &moves, goal));
    Ok(pure(&headers, &replay.await?))
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
    let service = &state.0.service;
    let drawn = service
        .lookup(move |database| {
            let sampler = match distance {
                None => Sampler::of_all(database),
                Some(distance) => shared
                    .samplers
                    .at_distance(database, distance)
                    .expect("the distance is in range"),
            };
            sampler.draw(seed)
        })
        .await?;
    if is_pure {
        return Ok(pure(&headers, &drawn));
    }
    Ok((
        [(CACHE_CONTROL, NO_STORE), (CONTENT_TYPE, super::JSON)],
        to_json(&drawn),
    )
        .into_response())
}

/// A seed that JavaScript can hold: below 2^53.
fn new_seed() -> u64 {
    RandomState::new().hash_one(()) >> 11
}

fn to_json(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("strings, numbers and lists always serialize")
}

/// An answer that depends on its URL alone: whoever has it need not be sent it again.
fn pure(headers: &HeaderMap, answer: &impl Serialize) -> Response {
    Representation::new(super::JSON, FOR_A_DAY, to_json(answer)).respond(headers)
}
