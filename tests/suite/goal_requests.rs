//! Patterns asked of the service, over HTTP and on the command line.

use std::time::{Duration, Instant};

use rotation_game::Board;
use rotation_game::puzzle::Goal;
use rotation_game::search::HeuristicKind::{self, Misplaced, PatternDatabase};
use rotation_game::service::{Error, Request, Service, Source};
use serde_json::json;

use crate::api::{Api, BOARD};
use crate::engine::{CONFIG, until};
use crate::running::{Server, free_address, metric};
use crate::support::{run, text};

/// Four moves from [`NEAR_GOAL`].
const NEAR: &str = "333113113112222223132321";
const NEAR_GOAL: &str = ".......2........33...13.";
/// 19 moves from [`FAR_GOAL`].
const FAR: &str = "113331232232211122313132";
const FAR_GOAL: &str = "112311231323132213232213";

fn request(board: &str, goal: &str, heuristic: HeuristicKind) -> Request {
    Request {
        board: board.parse().unwrap(),
        goal: goal.parse().unwrap(),
        max_depth: 32,
        timeout: Duration::from_mins(1),
        heuristic,
        explain: false,
    }
}

fn spaced(board: &str) -> String {
    board.chars().flat_map(|digit| [digit, ' ']).collect()
}

#[tokio::test]
async fn a_pattern_is_repeated_and_the_centre_is_null_where_there_are_several_values() {
    let api = Api::new();
    api.engine.release();
    let answer = api.solve(json!({"board": NEAR, "goal": NEAR_GOAL})).await;
    assert_eq!(
        text(&answer.body),
        format!(r#"{{"moves":"ACGB","length":4,"centre":null,"goal":"{NEAR_GOAL}"}}"#)
    );
    let centre = "......222..22..222......";
    let answer = api.solve(json!({"board": BOARD, "goal": centre})).await;
    assert_eq!(
        answer.json(),
        json!({"moves": "AC", "length": 2, "centre": 2, "goal": centre})
    );
    let answer = api.solve(json!({"board": BOARD, "goal": "centre"})).await;
    assert_eq!(
        answer.json(),
        json!({"moves": "AC", "length": 2, "centre": 2})
    );
}

#[tokio::test]
async fn a_goal_has_its_own_solutions_in_the_cache() {
    let api = Api::new();
    api.engine.release();
    let mut statuses = Vec::new();
    for goal in [
        "centre",
        NEAR_GOAL,
        NEAR_GOAL,
        "........................",
        "centre",
    ] {
        let answer = api.solve(json!({"board": NEAR, "goal": goal})).await;
        statuses.push((
            answer.json()["length"].as_u64().unwrap(),
            answer.header("cache-status").ends_with("hit"),
        ));
    }
    let usual = statuses[0].0;
    assert_eq!(
        statuses,
        [
            (usual, false),
            (4, false),
            (4, true),
            (0, false),
            (usual, true)
        ]
    );
    assert_eq!(api.service.metrics().cache_entries.get(), 3);
}

#[tokio::test]
async fn the_tables_of_a_goal_are_built_once_and_its_longest_search_is_capped_alike_known_or_not() {
    let service = Service::new(CONFIG);
    let full = request(FAR, FAR_GOAL, PatternDatabase);
    let capped = |max_depth| Request { max_depth, ..full };
    let lower_bound = |answer| match answer {
        Err(Error::DepthCapReached { lower_bound, .. }) => lower_bound,
        answer => panic!("{answer:?}"),
    };
    let mut fresh = Vec::new();
    for max_depth in [0, 14, 18] {
        fresh.push(lower_bound(service.solve(capped(max_depth)).await));
    }
    let answer = service.solve(full).await.unwrap();
    assert_eq!(answer.solution.moves.to_string(), "ADDADAAHHBBGHAEGHEH");
    let again = service.solve(full).await.unwrap();
    assert!(matches!(again.source, Source::Cache));
    let mut known = Vec::new();
    for max_depth in [0, 14, 18] {
        known.push(lower_bound(service.solve(capped(max_depth)).await));
    }
    assert_eq!(known, fresh);
    assert_eq!(fresh[2], 19);
    assert!(fresh[0] > 9, "the bound of the tables: {fresh:?}");
    assert_eq!(service.metrics().goal_builds.get(), 1);
    assert_eq!(service.metrics().goals.get(), 1);
}

#[tokio::test]
async fn with_misplaced_a_known_solution_beyond_the_cap_is_told_as_a_search_would() {
    let service = Service::new(CONFIG);
    let request = request(NEAR, NEAR_GOAL, Misplaced);
    let capped = Request {
        max_depth: 2,
        ..request
    };
    let fresh = service.solve(capped).await.unwrap_err();
    assert!(service.solve(request).await.is_ok());
    assert_eq!(service.solve(capped).await.unwrap_err(), fresh);
}

#[tokio::test]
async fn a_callers_time_ends_a_search_that_would_run_for_hours_with_the_bound_that_was_proven() {
    let service = Service::new(CONFIG);
    let request = Request {
        timeout: Duration::from_millis(100),
        ..request(FAR, FAR_GOAL, Misplaced)
    };
    let started = Instant::now();
    let Err(Error::TimedOut { lower_bound }) = service.solve(request).await else {
        panic!("it cannot be solved in that time");
    };
    assert!(started.elapsed() >= request.timeout);
    assert!(lower_bound > 3, "{lower_bound}");
    until("its thread is free", || {
        service.metrics().searches_running.get() == 0
    })
    .await;
}

#[tokio::test]
async fn searches_to_patterns_never_keep_the_usual_goal_waiting() {
    let service = Service::new(CONFIG);
    let far: Board = FAR.parse().unwrap();
    let searches: Vec<_> = (0..4)
        .map(|i| {
            let board = far.after(rotation_game::Move::ALL[i]);
            let service = service.clone();
            let request = Request {
                board,
                ..request(FAR, FAR_GOAL, Misplaced)
            };
            tokio::spawn(async move { service.solve(request).await })
        })
        .collect();
    until("one runs and the others wait", || {
        let metrics = service.metrics();
        (
            metrics.searches_running.get(),
            metrics.searches_waiting.get(),
        ) == (1, 3)
    })
    .await;
    let usual = Request {
        goal: Goal::Centre,
        ..request(FAR, FAR_GOAL, PatternDatabase)
    };
    assert!(service.solve(usual).await.is_ok());
    assert_eq!(service.metrics().searches_running.get(), 1);
    for search in searches {
        search.abort();
    }
    until("all are stopped", || {
        service.metrics().searches_running.get() == 0
    })
    .await;
}

#[test]
fn a_client_that_leaves_stops_the_search_of_its_pattern() {
    let metrics = free_address();
    let server = Server::start(&["--metrics-listen", &metrics]);
    server.leave_a_search(&metrics);
    assert_eq!(
        metric(&metrics, "rotation_game_searches_abandoned_total"),
        1
    );
}

#[tokio::test]
async fn a_line_of_a_batch_has_its_own_goal() {
    let api = Api::new();
    api.engine.release();
    let body = format!(
        "{}\n\"{BOARD}\"\n{}\n",
        json!({"board": NEAR, "goal": NEAR_GOAL}),
        json!({"board": NEAR, "goal": "2"}),
    );
    let request =
        http::Request::post("/solve/batch").header("content-type", "application/x-ndjson");
    let answer = api.call(request.body(body.into()).unwrap()).await;
    let lines: Vec<serde_json::Value> = text(&answer.body)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines[0],
        json!({"moves": "ACGB", "length": 4, "centre": null, "goal": NEAR_GOAL})
    );
    assert_eq!(lines[1], json!({"moves": "AC", "length": 2, "centre": 2}));
    assert_eq!(
        (&lines[2]["code"], &lines[2]["line"]),
        (&json!("invalid-goal"), &json!(3))
    );
}

#[test]
fn the_program_takes_a_goal() {
    let answer = |arguments: &[&str]| {
        let mut all = vec!["solve", "--goal", NEAR_GOAL];
        all.extend(arguments);
        let run = run(&all, spaced(NEAR));
        assert_eq!(text(&run.stderr), "");
        text(&run.stdout).to_owned()
    };
    assert_eq!(answer(&[]), "ACGB\n-\n");
    assert_eq!(answer(&["--heuristic", "misplaced"]), "ACGB\n-\n");
    assert_eq!(
        answer(&["--format", "json"]),
        format!("{{\"moves\":\"ACGB\",\"length\":4,\"centre\":null,\"goal\":\"{NEAR_GOAL}\"}}\n")
    );
    let usual = run(&["solve", "--goal", "centre"], spaced(BOARD));
    assert_eq!(text(&usual.stdout), "AC\n2\n");
    let bad = run(&["solve", "--goal", "corner"], "");
    assert_eq!(bad.status.code(), Some(2));
    assert!(text(&bad.stderr).contains("a goal has 24 characters, here are 6"));
}

#[test]
fn the_program_tells_whether_moves_reach_a_goal() {
    let replay = |moves| {
        let run = run(&["replay", NEAR, moves, "--goal", NEAR_GOAL], "");
        text(&run.stdout).to_owned()
    };
    assert!(replay("ACGBD").contains(&format!("{NEAR_GOAL} is reached after 4 moves\n")));
    assert!(replay("ACG").contains(&format!("{NEAR_GOAL} is not reached\n")));
}
