//! openapi.yaml says what there is, all of it and nothing else.

use std::collections::BTreeSet;

use axum::body::Body;
use futures_util::stream;
use http::{Method, Request, StatusCode};
use rotation_game::http::paths;
use rotation_game::service::Config;
use serde_json::json;

use crate::api::{Api, BOARD, HARDEST, problem, with_header};
use crate::engine::{CONFIG, boards};
use crate::openapi::{Answer, Documented, OpenApi, is_undocumented};
use crate::page::stylesheet;

#[test]
fn the_document_has_the_paths_of_the_router() {
    let documented: BTreeSet<String> = OpenApi::new()
        .operations()
        .into_iter()
        .map(|(_, path, _)| path)
        .collect();
    let paths = paths().filter(|path| !is_undocumented(path));
    assert_eq!(documented, paths.map(str::to_owned).collect());
}

#[tokio::test]
async fn the_document_has_the_methods_of_the_router() {
    let api = Api::new();
    for path in paths() {
        let mut documented: BTreeSet<String> = api
            .openapi
            .operations()
            .into_iter()
            .filter(|(_, documented, _)| documented == path)
            .map(|(method, ..)| method)
            .collect();
        if is_undocumented(path) {
            documented.insert("GET".to_owned());
        }
        if documented.contains("GET") {
            documented.insert("HEAD".to_owned());
        }
        let concrete = path
            .replace("{code}", "internal")
            .replace("{board}", BOARD)
            .replace("{moves}", "AC")
            .replace("{version}", "0123456789abcdef")
            .replace("{name}", "style.css");
        // A method that nothing has: the answer lists those that there are.
        let answer = api
            .call(with_header(Method::TRACE, &concrete, "accept", "*/*", ""))
            .await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
        let allowed = answer
            .header("allow")
            .split(',')
            .map(str::to_owned)
            .collect();
        assert_eq!(documented, allowed, "{path}");
    }
}

#[test]
fn every_example_is_as_its_schema_says() {
    assert!(OpenApi::new().check_examples() > 15);
}

/// One request for each documented response.
#[tokio::test]
async fn every_documented_response_is_produced() {
    let mut produced = BTreeSet::<Documented>::new();
    let mut note = |api: &Api, method: &Method, path: &str, answer: &Answer| {
        if method == Method::HEAD || is_undocumented(path) {
            return;
        }
        let template = api.openapi.template(path).unwrap().to_owned();
        produced.insert((method.to_string(), template, answer.status.as_u16()));
    };
    let api = Api::with(Config {
        search_queue: 0,
        ..CONFIG
    });
    for method in [Method::GET, Method::HEAD] {
        for path in [
            "/",
            "/livez",
            "/readyz",
            "/docs",
            "/openapi.yaml",
            "/problems/internal",
            "/problems/none",
        ] {
            let answer = api
                .call(with_header(method.clone(), path, "accept", "*/*", ""))
                .await;
            note(&api, &method, path, &answer);
        }
        for path in [
            "/boards/{B}",
            "/boards/{B}/solutions",
            "/boards/{B}/replay/AC",
            "/boards/random?seed=1",
        ] {
            let bad = path.replace("{B}", "123").replace("seed=1", "seed=x");
            let path = path.replace("{B}", BOARD);
            for request in [
                with_header(method.clone(), &path, "accept", "*/*", ""),
                with_header(method.clone(), &path, "accept", "image/png", ""),
                with_header(method.clone(), &path, "if-none-match", "*", ""),
                with_header(method.clone(), &bad, "accept", "*/*", ""),
            ] {
                let answer = api.call(request).await;
                note(&api, &method, &path, &answer);
            }
        }
        let path = "/problems/internal";
        let answer = api
            .call(with_header(method.clone(), path, "accept", "image/png", ""))
            .await;
        note(&api, &method, path, &answer);
        let asset = stylesheet(&api).await;
        for (path, known) in [
            ("/", "*"),
            ("/docs", "*"),
            (path, "*"),
            (&asset, "*"),
            (&asset, "\"other\""),
            ("/assets/0123456789abcdef/style.css", "*"),
        ] {
            let answer = api
                .call(with_header(
                    method.clone(),
                    path,
                    "if-none-match",
                    known,
                    "",
                ))
                .await;
            note(&api, &method, path, &answer);
        }
    }

    let answers = [
        api.solve(json!({"board": BOARD})).await,
        api.solve(json!({"board": HARDEST, "max_depth": 12})).await,
        api.post("{").await,
        api.post(" ".repeat(5000)).await,
        api.call(with_header(
            Method::POST,
            "/solve",
            "content-type",
            "text/plain",
            "",
        ))
        .await,
        api.post(Body::from_stream(stream::pending::<
            Result<Vec<u8>, std::io::Error>,
        >()))
        .await,
        api.solve(
            json!({"board": boards().nth(3).unwrap(), "heuristic": "misplaced", "timeout_ms": 1}),
        )
        .await,
        {
            let request = Request::post("/solve")
                .header("content-type", "application/json")
                .header("accept", "text/html");
            let body = json!({"board": BOARD}).to_string();
            api.call(request.body(Body::from(body)).unwrap()).await
        },
    ];
    for answer in &answers {
        note(&api, &Method::POST, "/solve", answer);
    }
    let text = |text: &str| {
        with_header(
            Method::POST,
            "/solve/batch",
            "content-type",
            "text/plain",
            text,
        )
    };
    let stalled = Request::post("/solve/batch")
        .header("content-type", "text/plain")
        .body(Body::from_stream(stream::pending::<
            Result<Vec<u8>, std::io::Error>,
        >()))
        .unwrap();
    let unacceptable = Request::post("/solve/batch")
        .header("content-type", "text/plain")
        .header("accept", "application/json")
        .body(Body::empty())
        .unwrap();
    let json = with_header(
        Method::POST,
        "/solve/batch",
        "content-type",
        "application/json",
        "",
    );
    for request in [text("0"), text("1 2 x"), stalled, unacceptable, json] {
        let answer = api.call(request).await;
        note(&api, &Method::POST, "/solve/batch", &answer);
    }
    let board_pages: Vec<(Method, String)> = [
        format!("/boards/{BOARD}"),
        format!("/boards/{BOARD}/solutions"),
        format!("/boards/{BOARD}/replay/AC"),
        "/boards/random?seed=1".to_owned(),
    ]
    .into_iter()
    .flat_map(|path| [(Method::GET, path.clone()), (Method::HEAD, path)])
    .collect();
    api.engine.panic(true);
    for (method, path) in &board_pages {
        let answer = api
            .call(with_header(method.clone(), path, "accept", "*/*", ""))
            .await;
        note(&api, method, path, &answer);
    }
    let answer = api.solve(json!({"board": boards().nth(5).unwrap()})).await;
    note(&api, &Method::POST, "/solve", &answer);
    let cells = BOARD.split("").collect::<Vec<_>>().join(" ");
    let call = with_header(
        Method::POST,
        "/solve/batch",
        "content-type",
        "text/plain",
        &cells,
    );
    let answer = api.call(call).await;
    note(&api, &Method::POST, "/solve/batch", &answer);
    api.engine.panic(false);

    api.service.stop();
    let answer = api.solve(json!({"board": boards().nth(6).unwrap()})).await;
    assert_eq!(problem(&answer).0, "shutting-down");
    note(&api, &Method::POST, "/solve", &answer);
    for (method, path) in &board_pages {
        let answer = api
            .call(with_header(method.clone(), path, "accept", "*/*", ""))
            .await;
        note(&api, method, path, &answer);
    }
    for method in [Method::GET, Method::HEAD] {
        let answer = api
            .call(with_header(method.clone(), "/readyz", "accept", "*/*", ""))
            .await;
        note(&api, &method, "/readyz", &answer);
    }
    assert_eq!(produced, api.openapi.documented());
}
