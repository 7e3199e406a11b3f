//! The HTTP contract, without sockets. Every response is held against openapi.yaml.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::body::Body;
use futures_util::stream;
use http::{Method, Request, StatusCode};
use rotation_game::http::{AppConfig, Code, HttpMetrics, app};
use rotation_game::service::{Config, Service};
use rstest::rstest;
use serde_json::{Value, json};

use crate::api::{Api, BATCH_MEMORY, BOARD, HARDEST, problem, with_header};
use crate::engine::{CONFIG, boards, until};
use crate::openapi::OpenApi;

#[tokio::test]
async fn a_board_is_solved_as_a_string_and_as_an_array() {
    let api = Api::new();
    let expected = json!({"moves": "AC", "length": 2, "centre": 2});
    let array: Vec<u32> = BOARD
        .chars()
        .map(|digit| digit.to_digit(10).unwrap())
        .collect();
    for board in [json!(BOARD), json!(array)] {
        let answer = api.solve(json!({"board": board})).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.json(), expected);
    }
}

#[tokio::test]
async fn a_solved_board_needs_no_moves() {
    let api = Api::new();
    let answer = api
        .solve(json!({"board": "222222111221133111333333"}))
        .await;
    assert_eq!(
        answer.json(),
        json!({"moves": "", "length": 0, "centre": 1})
    );
}

#[tokio::test]
async fn the_cache_status_tells_what_was_known() {
    let api = Api::new();
    let mut statuses = Vec::new();
    for explain in [false, false, true] {
        let answer = api.solve(json!({"board": BOARD, "explain": explain})).await;
        statuses.push(answer.header("cache-status").to_owned());
    }
    assert_eq!(
        statuses,
        [
            "rotation-game; fwd=miss",
            "rotation-game; hit",
            "rotation-game; fwd=bypass"
        ]
    );
    assert_eq!(api.engine.searches(), 2, "the hit was not searched for");
}

#[tokio::test]
async fn explain_tells_how() {
    let api = Api::new();
    let mut answer = api
        .solve(json!({"board": BOARD, "explain": true}))
        .await
        .json();
    answer["search"]["elapsed_us"] = json!(1);
    let search = json!({
        "heuristic": "pattern-database", "nodes": 3, "elapsed_us": 1,
        "iterations": [{"bound": 2, "nodes": 3}]
    });
    assert_eq!(
        answer,
        json!({"moves": "AC", "length": 2, "centre": 2, "search": search})
    );
}

#[rstest]
#[case::plain("application/json", true)]
#[case::charset("application/json; charset=utf-8", true)]
#[case::upper_case("Application/JSON", true)]
#[case::suffix("application/vnd.game+json", true)]
#[case::suffix_of_another_type("model/gltf+json", true)]
#[case::spaces("application/json ; charset=utf-8", true)]
#[case::form("application/x-www-form-urlencoded", false)]
#[case::text("text/json", false)]
#[case::nonsense("json", false)]
#[case::empty("", false)]
#[tokio::test]
async fn the_content_type_decides_whether_a_body_is_json(
    #[case] content_type: &str,
    #[case] is_json: bool,
) {
    let body = json!({"board": BOARD}).to_string();
    let request = with_header(Method::POST, "/solve", "content-type", content_type, &body);
    let answer = Api::new().call(request).await;
    if is_json {
        assert_eq!(answer.status, StatusCode::OK);
    } else {
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(
            detail.contains("send it with Content-Type: application/json"),
            "{detail}"
        );
    }
}

#[rstest]
#[case::no_board(json!({}), "invalid-request", &[""])]
#[case::not_an_object(json!([1]), "invalid-request", &[""])]
#[case::fields_without_names(json!([BOARD]), "invalid-request", &[""])]
#[case::nothing(json!(null), "invalid-request", &[""])]
#[case::heuristic_as_map(json!({"board": BOARD, "heuristic": {"misplaced": null}}), "invalid-request", &["/heuristic"])]
#[case::depth_not_whole(json!({"board": BOARD, "max_depth": 1.5}), "invalid-request", &["/max_depth"])]
#[case::a_number(json!(5), "invalid-request", &[""])]
#[case::unknown_field(json!({"board": BOARD, "depth": 3}), "invalid-request", &["/depth"])]
#[case::board_of_wrong_type(json!({"board": 5}), "invalid-request", &["/board"])]
#[case::board_null(json!({"board": null}), "invalid-request", &["/board"])]
#[case::cell_of_wrong_type(json!({"board": [1, "2"]}), "invalid-request", &["/board/1"])]
#[case::cell_not_whole(json!({"board": [1, 2, 1.5]}), "invalid-request", &["/board/2"])]
#[case::depth_negative(json!({"board": BOARD, "max_depth": -1}), "invalid-request", &["/max_depth"])]
#[case::depth_as_text(json!({"board": BOARD, "max_depth": "5"}), "invalid-request", &["/max_depth"])]
#[case::no_time(json!({"board": BOARD, "timeout_ms": 0}), "invalid-request", &["/timeout_ms"])]
#[case::both_out_of_range(json!({"board": BOARD, "max_depth": -1, "timeout_ms": 0}), "invalid-request", &["/max_depth", "/timeout_ms"])]
#[case::unknown_heuristic(json!({"board": BOARD, "heuristic": "best"}), "invalid-request", &["/heuristic"])]
#[case::goal_of_wrong_type(json!({"board": BOARD, "goal": 5}), "invalid-request", &["/goal"])]
#[case::goal_too_short(json!({"board": BOARD, "goal": "......222..22..222....."}), "invalid-goal", &["/goal"])]
#[case::goal_bad_characters(json!({"board": BOARD, "goal": "0.....222..22..222.....x"}), "invalid-goal", &["/goal/0", "/goal/23"])]
#[case::goal_of_nine_twos(json!({"board": BOARD, "goal": "2.....222..22..222......"}), "invalid-goal", &["/goal"])]
#[case::goal_every_reason(json!({"board": BOARD, "goal": "corner"}), "invalid-goal", &["/goal", "/goal/0", "/goal/1", "/goal/2", "/goal/3", "/goal/4", "/goal/5"])]
#[case::board_and_goal(json!({"board": "123", "goal": "4......................."}), "invalid-board", &["/board", "/goal/0"])]
#[case::explain_as_text(json!({"board": BOARD, "explain": "yes"}), "invalid-request", &["/explain"])]
#[case::too_short(json!({"board": "123"}), "invalid-board", &["/board"])]
#[case::too_long(json!({"board": format!("{BOARD}1")}), "invalid-board", &["/board"])]
#[case::bad_cells(json!({"board": "11113232313223122231213x"}), "invalid-board", &["/board/23"])]
#[case::bad_numbers(json!({"board": [0, 1, 1, 1, 3, 2, 3, 2, 3, 1, 3, 2, 2, 3, 1, 2, 2, 2, 3, 1, 2, 1, 3, 99_999_999_999_i64]}), "invalid-board", &["/board/0", "/board/23"])]
#[case::counts(json!({"board": "111132323132231222312131"}), "invalid-board", &["/board", "/board"])]
#[case::every_reason(json!({"board": "1111111114"}), "invalid-board", &["/board", "/board/9", "/board"])]
#[tokio::test]
async fn what_is_wrong_with_a_request_is_pointed_at(
    #[case] request: Value,
    #[case] code: &str,
    #[case] pointers: &[&str],
) {
    let answer = Api::new().solve(request).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let (found, at) = problem(&answer);
    assert_eq!(
        (
            found.as_str(),
            at.iter().map(String::as_str).collect::<Vec<_>>()
        ),
        (code, pointers.to_vec()),
        "{}",
        answer.json()
    );
}

#[tokio::test]
async fn messages_speak_of_json_and_not_of_the_program() {
    let api = Api::new();
    for (request, expected) in [
        (json!(null), "invalid type: null, expected an object"),
        (
            json!({"board": BOARD, "max_depth": "5"}),
            "invalid type: string \"5\", expected an integer",
        ),
        (
            json!({"board": BOARD, "max_depth": -1}),
            "max_depth is -1, less than 0",
        ),
        (
            json!({"board": BOARD, "timeout_ms": -1e30}),
            "timeout_ms is a number beyond 64 bits, less than 1",
        ),
        (
            json!({"board": BOARD, "heuristic": 1}),
            "invalid type: integer `1`, expected a string",
        ),
    ] {
        assert_eq!(api.solve(request).await.json()["detail"], expected);
    }
}

#[tokio::test]
async fn null_is_an_absent_field_unless_it_is_the_board() {
    let api = Api::new();
    let nulls = json!({
        "board": BOARD, "max_depth": null, "timeout_ms": null, "heuristic": null, "goal": null,
        "explain": null
    });
    let answer = api.solve(nulls).await.json();
    assert_eq!(answer, json!({"moves": "AC", "length": 2, "centre": 2}));
    let refused = api.solve(json!({"board": null})).await;
    assert_eq!(problem(&refused).1, ["/board"]);
}

#[rstest]
#[case::by_one(json!(33), json!(10_001))]
#[case::largest_integer(json!(u64::MAX), json!(u64::MAX))]
#[case::beyond_64_bits(json!(1e30), json!(1e300))]
#[tokio::test]
async fn options_above_the_maximum_mean_the_maximum(
    #[case] max_depth: Value,
    #[case] timeout_ms: Value,
) {
    let api = Api::with(Config {
        max_depth: 12,
        ..CONFIG
    });
    let request = json!({"board": HARDEST, "max_depth": max_depth, "timeout_ms": timeout_ms});
    let capped = api.solve(request).await.json();
    assert_eq!(
        capped["detail"],
        "no solution within 12 moves; the shortest has at least 13"
    );
}

#[rstest]
#[case("18446744073709551615", "18446744073709551615")]
#[case("-9223372036854775808", "-9223372036854775808")]
#[case("111132323132231222312133", "a number beyond 64 bits")]
#[tokio::test]
async fn large_cells_are_reported_as_sent_or_as_too_large(
    #[case] cell: &str,
    #[case] reported: &str,
) {
    let rest = "1,1,1,3,2,3,2,3,1,3,2,2,3,1,2,2,2,3,1,2,1,3,3";
    let answer = Api::new()
        .post(format!(r#"{{"board":[{cell},{rest}]}}"#))
        .await;
    assert_eq!(
        answer.json()["detail"],
        format!("cell 0 is {reported}, not 1, 2 or 3")
    );
}

#[tokio::test]
async fn numbers_beyond_a_double_are_reported_as_out_of_range() {
    for body in [r#"{"board":[1e400]}"#, r#"{"board":"1","max_depth":1e400}"#] {
        let answer = Api::new().post(body).await;
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.starts_with("number out of range"), "{detail}");
    }
}

#[tokio::test]
async fn one_byte_order_mark_before_a_body_is_skipped() {
    let api = Api::new();
    let body = json!({"board": BOARD});
    assert_eq!(
        api.post(format!("\u{feff}{body}")).await.status,
        StatusCode::OK
    );
    let twice = api.post(format!("\u{feff}\u{feff}{body}")).await;
    assert_eq!(problem(&twice).0, "malformed-json");
}

#[rstest]
#[case::json("/solve", "application/json")]
#[case::ndjson("/solve/batch", "application/x-ndjson")]
#[case::judge_format("/solve/batch", "text/plain")]
#[tokio::test]
async fn a_compressed_body_is_refused(#[case] path: &str, #[case] content_type: &str) {
    let api = Api::new();
    for (coding, is_accepted) in [
        ("gzip", false),
        ("identity, br", false),
        ("identity", true),
        ("Identity", true),
        ("", true),
    ] {
        let body = match content_type {
            "text/plain" => "1 1 1 1 3 2 3 2 3 1 3 2 2 3 1 2 2 2 3 1 2 1 3 3".to_owned(),
            _ => json!({"board": BOARD}).to_string(),
        };
        let request = Request::post(path)
            .header("content-type", content_type)
            .header("content-encoding", coding)
            .body(Body::from(body))
            .unwrap();
        let answer = api.call(request).await;
        if is_accepted {
            assert_eq!(answer.status, StatusCode::OK, "{coding}");
            continue;
        }
        assert_eq!(
            answer.status,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "{coding}"
        );
        assert_eq!(answer.header("accept-encoding"), "identity");
        assert_eq!(problem(&answer).0, "unsupported-media-type");
    }
    let request = with_header(Method::POST, path, "content-type", "image/png", "x");
    assert_eq!(api.call(request).await.header("accept-encoding"), "");
}

#[tokio::test]
async fn an_integer_may_be_written_as_any_number_that_is_whole() {
    let api = Api::new();
    let body = format!(r#"{{"board": "{BOARD}", "max_depth": 13.0, "timeout_ms": 1e2}}"#);
    assert_eq!(api.post(body).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_path_that_is_no_text_is_not_found() {
    let answer = Api::new().get("/problems/%ff").await;
    assert_eq!(problem(&answer).0, "not-found");
}

#[tokio::test]
async fn a_field_given_twice_is_refused() {
    let answer = Api::new().post(r#"{"board": "1", "board": "2"}"#).await;
    assert_eq!(problem(&answer).0, "invalid-request");
}

#[rstest]
#[case::empty("")]
#[case::half(r#"{"board": "1111"#)]
#[case::text("board=1111")]
#[case::more_behind_it(r#"{"board": "111132323132231222312133"} {}"#)]
#[case::not_utf8(&b"\"\xff\""[..])]
#[tokio::test]
async fn what_is_not_json_is_told_with_its_place(#[case] body: impl Into<Body>) {
    let answer = Api::new().post(body).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("at line 1 column"), "{detail}");
}

#[tokio::test]
async fn a_body_of_4096_bytes_is_read_and_a_larger_one_is_not() {
    let api = Api::new();
    let body = |length: usize| {
        let board = json!({"board": BOARD}).to_string();
        format!("{board}{}", " ".repeat(length - board.len()))
    };
    assert_eq!(api.post(body(4096)).await.status, StatusCode::OK);
    let answer = api.post(body(4097)).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    // The same in pieces, of no announced length.
    let pieces = stream::iter((0..5).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1000])));
    let answer = api.post(Body::from_stream(pieces)).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn every_problem_names_its_request() {
    let api = Api::new();
    let request = with_header(Method::GET, "/nowhere", "x-request-id", "my-id.1_Z", "");
    let answer = api.call(request).await;
    assert_eq!(answer.header("x-request-id"), "my-id.1_Z");
    assert_eq!(answer.json()["instance"], "my-id.1_Z");
    assert_eq!(answer.json()["type"], "/problems/not-found");
}

#[rstest]
#[case("has space")]
#[case("")]
#[case("quote\"")]
#[case("12345678901234567890123456789012345678901234567890123456789012345")]
#[tokio::test]
async fn a_request_id_that_is_not_short_and_plain_is_replaced(#[case] id: &str) {
    let answer = Api::new()
        .call(with_header(Method::GET, "/livez", "x-request-id", id, ""))
        .await;
    let given = answer.header("x-request-id");
    assert!(given != id && given.len() == 16, "{given}");
}

#[tokio::test]
async fn new_request_ids_differ() {
    let api = Api::new();
    let mut ids = BTreeSet::new();
    for _ in 0..100 {
        ids.insert(api.get("/livez").await.header("x-request-id").to_owned());
    }
    assert_eq!(ids.len(), 100);
}

#[tokio::test]
async fn security_headers_are_on_every_answer() {
    let api = Api::new();
    for path in ["/", "/livez", "/nowhere", "/problems/internal", "/solve"] {
        let answer = api.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert!(
            answer
                .header("content-security-policy")
                .starts_with("default-src 'none'")
        );
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
    }
}

#[tokio::test]
async fn without_configuration_no_origin_is_allowed() {
    let answer = Api::new()
        .call(with_header(
            Method::GET,
            "/livez",
            "origin",
            "https://example.org",
            "",
        ))
        .await;
    assert_eq!(answer.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn every_code_has_a_page_and_nothing_else_has() {
    let api = Api::new();
    for code in Code::ALL {
        let answer = api.get(&format!("/problems/{}", code.as_str())).await;
        assert_eq!(answer.status, StatusCode::OK);
        let page = String::from_utf8(answer.body).unwrap();
        assert!(
            page.contains(code.title()) && page.contains(code.description()),
            "{page}"
        );
    }
    assert_eq!(
        api.get("/problems/unknown").await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn the_document_is_served_with_the_limits_of_the_server() {
    let api = Api::with(Config {
        max_depth: 20,
        search_timeout: Duration::from_millis(1500),
        ..CONFIG
    });
    let yaml = api.get("/openapi.yaml").await;
    let json = api.get("/openapi.json").await;
    let expected = include_str!("../../openapi.yaml")
        .replace("x-server-maximum: 32", "x-server-maximum: 20")
        .replace("x-server-maximum: 10000", "x-server-maximum: 1500");
    assert_eq!(std::str::from_utf8(&yaml.body).unwrap(), expected);
    let fields = &json.json()["components"]["schemas"]["SolveRequest"]["properties"];
    assert_eq!(fields["max_depth"]["x-server-maximum"], 20);
    assert_eq!(fields["timeout_ms"]["x-server-maximum"], 1500);
    assert_eq!(
        json.json(),
        yaml_serde::from_str::<Value>(&expected).unwrap()
    );
    for (path, answer) in [("/openapi.yaml", yaml), ("/openapi.json", json)] {
        assert_eq!(answer.header("cache-control"), "no-cache");
        let etag = answer.header("etag");
        let request = with_header(Method::GET, path, "if-none-match", etag, "");
        assert_eq!(api.call(request).await.status, StatusCode::NOT_MODIFIED);
    }
}

#[tokio::test]
async fn ready_is_what_is_built_and_not_drained() {
    let service = Service::new(CONFIG);
    let app = app(AppConfig {
        service: service.clone(),
        body_timeout: Duration::from_secs(1),
        metrics: HttpMetrics::default(),
        batch_memory: BATCH_MEMORY,
        cors: None,
    });
    let openapi = OpenApi::new();
    let ready = async || {
        let request = Request::get("/readyz").body(Body::empty()).unwrap();
        openapi.call(&app, request).await
    };
    assert_eq!(problem(&ready().await).0, "overloaded");
    service.prepare().await;
    assert_eq!(ready().await.status, StatusCode::OK);
    service.drain();
    assert_eq!(problem(&ready().await).0, "shutting-down");
}

#[tokio::test]
async fn a_request_beyond_capacity_is_shed_while_health_and_known_boards_are_answered() {
    let api = Api::with(Config {
        search_queue: 0,
        ..CONFIG
    });
    api.solve(json!({"board": BOARD})).await;
    let [first, second] = std::array::from_fn(|index| boards().nth(index).unwrap());
    let running = tokio::spawn({
        let (app, body) = (
            api.app.clone(),
            json!({"board": first, "heuristic": "misplaced"}),
        );
        async move {
            let request = with_header(
                Method::POST,
                "/solve",
                "content-type",
                "application/json",
                &body.to_string(),
            );
            OpenApi::new().call(&app, request).await.status
        }
    });
    until("it runs", || {
        api.service.metrics().searches_running.get() == 1
    })
    .await;

    let shed = api
        .solve(json!({"board": second, "heuristic": "misplaced"}))
        .await;
    assert_eq!(shed.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(problem(&shed).0, "overloaded");
    assert_eq!(shed.header("retry-after"), "1");
    assert_eq!(api.get("/livez").await.status, StatusCode::OK);
    assert_eq!(api.get("/readyz").await.status, StatusCode::OK);
    let hit = api
        .solve(json!({"board": BOARD, "heuristic": "misplaced"}))
        .await;
    assert_eq!(hit.header("cache-status"), "rotation-game; hit");

    api.engine.release();
    assert_eq!(running.await.unwrap(), StatusCode::OK);
}

#[tokio::test]
async fn a_panic_in_a_handler_costs_one_500() {
    let api = Api::new();
    api.engine.panic(true);
    // Not documented for this path, since nothing but a fault of the program causes it.
    let request = Request::get("/readyz").body(Body::empty()).unwrap();
    let response = tower::ServiceExt::oneshot(api.app.clone(), request)
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let body = axum::body::to_bytes(response.into_body(), 4096)
        .await
        .unwrap();
    let problem: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(problem["code"], "internal");
    assert!(
        !problem.to_string().contains("told to panic"),
        "internal text is not sent"
    );
    api.engine.panic(false);
    assert_eq!(api.get("/readyz").await.status, StatusCode::OK);
}
