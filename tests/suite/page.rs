//! `GET /`, `/docs` and the assets of the pages.

use std::collections::BTreeSet;
use std::fs;

use http::{Method, StatusCode};
use rstest::rstest;

use crate::api::{Api, problem, with_header};
use crate::census_command::BOARDS;
use crate::openapi::Answer;

const PAGES: [&str; 3] = ["/", "/docs", "/problems/internal"];

fn body(answer: &Answer) -> &str {
    std::str::from_utf8(&answer.body).unwrap()
}

/// The paths of the assets in the attributes of a page, from `/`.
fn assets_of(page: &str) -> Vec<String> {
    let attributes = page.split('"').map(|text| text.trim_start_matches("../"));
    let assets = attributes.filter(|text| text.starts_with("assets/"));
    assets.map(|path| format!("/{path}")).collect()
}

/// The path of the stylesheet, as the page names it.
pub(crate) async fn stylesheet(api: &Api) -> String {
    let home = api.get("/").await;
    let mut assets = assets_of(body(&home)).into_iter();
    assets.find(|path| path.ends_with("/style.css")).unwrap()
}

#[tokio::test]
async fn pages_are_asked_for_each_time_and_sent_once() {
    let api = Api::new();
    for path in PAGES {
        let answer = api.get(path).await;
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(answer.header("cache-control"), "no-cache", "{path}");
        let etag = answer.header("etag");
        let again = api
            .call(with_header(Method::GET, path, "if-none-match", etag, ""))
            .await;
        assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{path}");
        assert_eq!(again.header("etag"), etag);
    }
}

#[tokio::test]
async fn pages_load_nothing_from_elsewhere_and_nothing_inline() {
    let api = Api::new();
    for path in PAGES {
        let answer = api.get(path).await;
        assert_eq!(
            answer.header("content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
             connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "{path}"
        );
        let html = body(&answer);
        for forbidden in [
            " style=",
            "<style",
            "<script>",
            " onclick=",
            "src=\"http",
            "{assets}",
            "{root}",
            "=\"/",
        ] {
            assert!(!html.contains(forbidden), "{forbidden} in {path}");
        }
    }
}

#[rstest]
#[case("/livez")]
#[case("/boards/random?seed=1")]
#[case("/openapi.yaml")]
#[case("/nowhere")]
#[tokio::test]
async fn what_is_no_page_may_load_nothing(#[case] path: &str) {
    let answer = Api::new().get(path).await;
    assert_eq!(
        answer.header("content-security-policy"),
        "default-src 'none'; frame-ancestors 'none'"
    );
}

#[tokio::test]
async fn assets_are_kept_for_ever_under_a_path_that_changes_with_them() {
    let api = Api::new();
    let mut types = BTreeSet::new();
    for page in PAGES {
        let page = api.get(page).await;
        for path in assets_of(body(&page)) {
            let answer = api.get(&path).await;
            assert_eq!(answer.status, StatusCode::OK, "{path}");
            assert_eq!(
                answer.header("cache-control"),
                "public, max-age=31536000, immutable"
            );
            types.insert(answer.header("content-type").to_owned());
            let etag = answer.header("etag");
            let again = api
                .call(with_header(Method::GET, &path, "if-none-match", etag, ""))
                .await;
            assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{path}");
            let head = api
                .call(with_header(Method::HEAD, &path, "accept", "*/*", ""))
                .await;
            assert_eq!((head.status, head.header("etag")), (StatusCode::OK, etag));
        }
    }
    let expected = [
        "image/svg+xml",
        "text/css; charset=utf-8",
        "text/javascript; charset=utf-8",
    ];
    assert!(types.iter().eq(expected), "{types:?}");
}

#[tokio::test]
async fn every_file_of_the_folder_is_served_but_the_templates() {
    let api = Api::new();
    let folder = stylesheet(&api).await.replace("style.css", "");
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")).unwrap();
    for file in files {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let answer = api.get(&format!("{folder}{name}")).await;
        if file.path().extension().unwrap() == "html" {
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{name}");
        } else {
            assert_eq!(answer.body, fs::read(file.path()).unwrap(), "{name}");
        }
    }
}

#[rstest]
#[case::another_version("/assets/0123456789abcdef/style.css")]
#[case::no_such_file("{folder}none.css")]
#[case::a_template("{folder}index.html")]
#[case::a_path_upwards("{folder}..%2fCargo.toml")]
#[tokio::test]
async fn what_is_no_asset_is_not_found(#[case] path: &str) {
    let api = Api::new();
    let folder = stylesheet(&api).await.replace("style.css", "");
    let answer = api.get(&path.replace("{folder}", &folder)).await;
    assert_eq!(problem(&answer).0, "not-found");
    assert_eq!(answer.header("cache-control"), "");
}

#[test]
fn the_page_plots_what_the_census_counts() {
    let source = include_str!("../../assets/census.mjs").replace('_', "");
    let numbers = source.split(|letter: char| !letter.is_ascii_digit());
    let numbers: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
    assert!(numbers.starts_with(&BOARDS), "{numbers:?}");
}
