//! `GET /boards/…`.

use http::Method;
use rstest::rstest;
use serde_json::{Value, json};

use crate::api::{Api, BOARD, HARDEST, problem, with_header};

#[tokio::test]
async fn boards_and_moves_are_read_in_every_notation_and_printed_in_one() {
    let api = Api::new();
    let spaced = "1%201,1%0A1323231,,3223%09122231213%203";
    let goal = ".+.....222..22..222....%20..";
    let pairs = [
        (
            format!("/boards/{spaced}"),
            "/boards/111132323132231222312133",
        ),
        (
            format!("/boards/{spaced}/replay/acH?goal={goal}"),
            "/boards/111132323132231222312133/replay/ACH?goal=......222..22..222......",
        ),
    ];
    for (path, canonical) in pairs {
        let (answer, expected) = (api.get(&path).await, api.get(canonical).await);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.body, expected.body);
        assert_eq!(answer.header("etag"), expected.header("etag"));
    }
    let board = "1111 3232 3132 2312 2231 2133";
    let solved = api.solve(json!({ "board": board })).await;
    assert_eq!(solved.status, 200);
}

#[tokio::test]
async fn a_boards_page_tells_what_the_table_knows() {
    let answer = Api::new().get(&format!("/boards/{BOARD}")).await;
    assert_eq!(answer.header("cache-control"), "public, max-age=86400");
    let body = answer.json();
    assert_eq!(body["board"], BOARD);
    assert_eq!(body["distance"], 2);
    assert_eq!(body["distances"]["2"], 2);
    assert_eq!(
        body["solution"],
        json!({"moves": "AC", "length": 2, "centre": 2})
    );
    assert_eq!(body["optimal_solutions"], 1);
    assert_eq!(body["moves"].as_array().unwrap().len(), 8);
    let first = json!({"move": "A", "board": "121132121132133222312332", "distance": 1, "effect": "closer"});
    assert_eq!(body["moves"][0]["move"], first["move"]);
    assert_eq!(body["moves"][0]["distance"], first["distance"]);
    assert_eq!(body["moves"][0]["effect"], first["effect"]);
}

#[tokio::test]
async fn solutions_come_in_pages_that_follow_each_other() {
    let api = Api::new();
    let mut path = Some(format!("/boards/{HARDEST}/solutions?limit=7"));
    let (mut moves, mut total) = (Vec::new(), 0);
    while let Some(next) = path {
        let page = api.get(&next).await.json();
        total = page["total"].as_u64().unwrap();
        assert_eq!(page["offset"], moves.len());
        let solutions = page["solutions"].as_array().unwrap().iter();
        moves.extend(solutions.map(|solution| solution["moves"].as_str().unwrap().to_owned()));
        path = page["next"].as_str().map(str::to_owned);
    }
    assert_eq!(moves.len() as u64, total);
    assert!(total > 7 && moves.is_sorted_by(|a, b| a < b), "{moves:?}");
    assert_eq!(moves[0], "AAABGAHBDDDHB");
    let behind = api
        .get(&format!("/boards/{HARDEST}/solutions?offset={}", u64::MAX))
        .await
        .json();
    assert_eq!(
        (&behind["solutions"], &behind["next"]),
        (&json!([]), &json!(null))
    );
}

#[tokio::test]
async fn a_replay_judges_moves() {
    let api = Api::new();
    let replay = api.get(&format!("/boards/{BOARD}/replay/AC")).await.json();
    assert_eq!(replay["steps"].as_array().unwrap().len(), 2);
    for (field, expected) in [
        ("solved", json!(true)),
        ("centre", json!(2)),
        ("optimal", json!(true)),
        ("lexicographically_smallest", json!(true)),
        ("distance", json!(0)),
    ] {
        assert_eq!(replay[field], expected, "{field}");
    }
    let unsolved = api.get(&format!("/boards/{BOARD}/replay/C")).await.json();
    assert_eq!(
        (&unsolved["solved"], &unsolved["centre"]),
        (&json!(false), &json!(null))
    );
    let bad = api.get(&format!("/boards/{BOARD}/replay/AxCZ")).await;
    assert_eq!(
        problem(&bad),
        (
            "invalid-request".to_owned(),
            vec!["/moves/1".to_owned(), "/moves/3".to_owned()]
        )
    );
    let long = format!("/boards/{BOARD}/replay/{}", "A".repeat(1000));
    assert_eq!(
        api.get(&long).await.json()["steps"]
            .as_array()
            .unwrap()
            .len(),
        1000
    );
    assert_eq!(problem(&api.get(&format!("{long}A")).await).1, ["/moves"]);
}

#[rstest]
#[case("AC", "......222..22..222......", true, json!(2))]
#[case("ACGB", "......222..22..222......", true, json!(2))]
#[case("A", "......222..22..222......", false, json!(null))]
#[case("AC", "centre", true, json!(2))]
#[case("B", "........................", true, json!(0))]
#[tokio::test]
async fn a_replay_tells_whether_and_when_a_goal_is_reached(
    #[case] moves: &str,
    #[case] goal: &str,
    #[case] reached: bool,
    #[case] after: Value,
) {
    let api = Api::new();
    let path = format!("/boards/{BOARD}/replay/{moves}");
    let replay = api.get(&format!("{path}?goal={goal}")).await.json();
    assert_eq!(
        (
            &replay["goal"],
            &replay["reached"],
            &replay["reached_after"]
        ),
        (&json!(goal), &json!(reached), &after)
    );
    let usual = api.get(&path).await.json();
    assert_eq!(usual.get("goal"), None);
    assert_eq!(usual["steps"], replay["steps"]);
}

#[tokio::test]
async fn a_random_board_is_the_same_for_the_same_seed() {
    let api = Api::new();
    // These are promised: they stay the same in every version.
    for (query, board) in [
        ("distance=9&seed=42", "232333213211321112223113"),
        ("seed=42", "131322223211332313131212"),
        (
            "distance=13&seed=18446744073709551615",
            "312113233323112211223123",
        ),
    ] {
        let answer = api.get(&format!("/boards/random?{query}")).await;
        assert_eq!(answer.header("cache-control"), "public, max-age=86400");
        assert_eq!(answer.json()["board"], board, "{query}");
    }
    let answer = api.get("/boards/random?distance=5").await;
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("etag"), "");
    let drawn = answer.json();
    assert_eq!(drawn["distance"], 5);
    let again = api
        .get(&format!("/boards/random?distance=5&seed={}", drawn["seed"]))
        .await
        .json();
    assert_eq!(again, drawn);
}

/// A list of faults that a caller can make long is cut, wherever it comes from.
#[rstest]
#[case::replay(&format!("/boards/{BOARD}/replay/{}", "x".repeat(1000)), 984)]
#[case::one_too_many(&format!("/boards/{BOARD}/replay/{}", "x".repeat(17)), 1)]
#[case::board(&format!("/boards/{}", "x".repeat(24)), 8)]
#[case::long_board(&format!("/boards/{}", "x".repeat(2000)), 9)]
#[case::goal(&format!("/boards/{BOARD}/replay/A?goal={}", "x".repeat(24)), 8)]
#[case::long_goal(&format!("/boards/{BOARD}/replay/A?goal={}", "x".repeat(2000)), 9)]
#[tokio::test]
async fn a_url_with_many_faults_lists_16_and_counts_the_rest(
    #[case] path: &str,
    #[case] more: usize,
) {
    let answer = Api::new().get(path).await;
    assert_lists_16(&answer.json(), more);
    assert!(answer.body.len() < 4096, "{} bytes", answer.body.len());
}

#[tokio::test]
async fn a_url_with_16_faults_lists_them_all() {
    let path = format!("/boards/{BOARD}/replay/{}", "x".repeat(16));
    let body = Api::new().get(&path).await.json();
    assert_eq!(body["errors"].as_array().unwrap().len(), 16);
    let detail = body["detail"].as_str().unwrap();
    assert!(detail.ends_with("move 15 is 'x', not a letter from A to H"));
}

#[rstest]
#[case::array(json!({"board": vec![9; 2000]}), 9)]
#[case::string(json!({"board": "x".repeat(4000)}), 9)]
#[case::goal(json!({"board": BOARD, "goal": "x".repeat(4000)}), 9)]
#[case::board_and_goal(json!({"board": vec![9; 500], "goal": "x".repeat(500)}), 34)]
#[tokio::test]
async fn a_body_with_many_faults_lists_16_and_counts_the_rest(
    #[case] request: Value,
    #[case] more: usize,
) {
    let answer = Api::new().solve(request).await;
    assert_lists_16(&answer.json(), more);
}

fn assert_lists_16(problem: &Value, more: usize) {
    assert_eq!(problem["errors"].as_array().unwrap().len(), 16, "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert_eq!(detail.matches("; ").count(), 16, "{detail}");
    assert!(detail.ends_with(&format!("; and {more} more")), "{detail}");
}

#[rstest]
#[case("/boards/123", "invalid-board", &["/board"])]
#[case("/boards/111132323132231222312134", "invalid-board", &["/board/23"])]
#[case("/boards/111132323132231222312133/solutions?limit=0", "invalid-request", &["/limit"])]
#[case("/boards/111132323132231222312133/solutions?limit=1001", "invalid-request", &["/limit"])]
#[case("/boards/111132323132231222312133/solutions?offset=-1", "invalid-request", &["/offset"])]
#[case("/boards/111132323132231222312133/solutions?page=2", "invalid-request", &["/page"])]
#[case("/boards/111132323132231222312133/replay/A?goal=x", "invalid-goal", &["/goal", "/goal/0"])]
#[case("/boards/111132323132231222312133/replay/A?aim=centre", "invalid-request", &["/aim"])]
#[case("/boards/random?distance=14", "invalid-request", &["/distance"])]
#[case("/boards/random?distance=far", "invalid-request", &["/distance"])]
#[case("/boards/random?seed=-1", "invalid-request", &["/seed"])]
#[tokio::test]
async fn what_is_wrong_with_a_url_is_pointed_at(
    #[case] path: &str,
    #[case] code: &str,
    #[case] pointers: &[&str],
) {
    let answer = Api::new().get(path).await;
    let (found, at) = problem(&answer);
    assert_eq!(
        (found.as_str(), at),
        (
            code,
            pointers.iter().map(|&pointer| pointer.to_owned()).collect()
        ),
        "{}",
        answer.json()
    );
}

#[rstest]
#[case("/boards/111132323132231222312133")]
#[case("/boards/111132323132231222312133/solutions")]
#[case("/boards/111132323132231222312133/replay/AC")]
#[case("/boards/random?seed=1")]
#[tokio::test]
async fn who_has_an_answer_is_not_sent_it_again(#[case] path: &str) {
    let api = Api::new();
    let first = api.get(path).await;
    let (etag, length) = (
        first.header("etag").to_owned(),
        first.body.len().to_string(),
    );
    assert!(
        etag.starts_with('"') && etag.ends_with('"'),
        "{etag} is not a strong one"
    );
    for (known, status) in [
        (etag.clone(), 304),
        (format!("\"other\", W/{etag}"), 304),
        ("*".to_owned(), 304),
        ("\"other\"".to_owned(), 200),
    ] {
        let ask = |method| api.call(with_header(method, path, "if-none-match", &known, ""));
        let answer = ask(Method::GET).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("etag")),
            (status, etag.as_str()),
            "{known}"
        );
        assert_eq!(answer.body.is_empty(), status == 304);
        let head = ask(Method::HEAD).await;
        assert_eq!(
            (head.status.as_u16(), head.header("content-length")),
            (status, length.as_str()),
            "a cache would believe another length, {known}"
        );
    }
}
