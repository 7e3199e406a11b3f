//! `GET /docs` says all that openapi.yaml says.

use rotation_game::http::Code;
use yaml_serde::Value;

use crate::api::Api;

/// The names that the format gives, which the page puts in words of its own.
const KEYWORDS: [&str; 38] = [
    "additionalProperties",
    "anyOf",
    "components",
    "content",
    "default",
    "description",
    "enum",
    "example",
    "examples",
    "headers",
    "in",
    "info",
    "items",
    "license",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "name",
    "oneOf",
    "openapi",
    "operationId",
    "parameters",
    "paths",
    "pattern",
    "properties",
    "requestBody",
    "required",
    "responses",
    "schema",
    "schemas",
    "security",
    "servers",
    "summary",
    "tags",
    "type",
    "x-extensible-enum",
    "x-server-maximum",
];

/// Of these the page has what stands under them, but not the names.
const UNNAMED: [&str; 3] = ["parameters", "headers", "examples"];

async fn page() -> String {
    let answer = Api::new().get("/docs").await;
    String::from_utf8(answer.body).unwrap()
}

/// What a reader sees, without the spaces.
fn text_of(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        text += piece.split_once('>').map_or(piece, |(_, text)| text);
    }
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    plain(&text)
}

fn plain(text: &str) -> String {
    text.replace(|letter: char| letter.is_whitespace() || letter == '`', "")
}

/// Calls the visitor with every name and every value below a value.
fn visit(value: &Value, parent: &str, visitor: &mut impl FnMut(&str)) {
    match value {
        Value::Mapping(fields) => {
            for (name, value) in fields {
                let name = name.as_str().unwrap();
                match name {
                    "$ref" | "operationId" | "identifier" | "required" | "additionalProperties" => {
                        continue;
                    }
                    _ if KEYWORDS.contains(&name) || UNNAMED.contains(&parent) => {}
                    _ => visitor(name),
                }
                visit(value, name, visitor);
            }
        }
        Value::Sequence(items) => items.iter().for_each(|item| visit(item, parent, visitor)),
        Value::String(text) => visitor(text),
        Value::Number(number) => visitor(&number.to_string()),
        Value::Bool(truth) => visitor(&truth.to_string()),
        _ => {}
    }
}

#[tokio::test]
async fn the_reference_leaves_nothing_of_the_document_out() {
    let text = text_of(&page().await);
    let document = Api::new().get("/openapi.yaml").await.body;
    let document: Value = yaml_serde::from_slice(&document).unwrap();
    let mut count = 0;
    visit(&document, "", &mut |told| {
        count += 1;
        let told = plain(told);
        let told_in_capitals = told.to_uppercase();
        assert!(
            text.contains(&told) || text.contains(&told_in_capitals),
            "{told} is missing"
        );
    });
    assert!(count > 500, "{count} things are told");
}

#[tokio::test]
async fn every_link_of_the_reference_leads_somewhere() {
    let page = page().await;
    let values_of = |attribute: &str| -> Vec<&str> {
        let rests = page.split(attribute).skip(1);
        rests.filter_map(|rest| rest.split('"').next()).collect()
    };
    let targets = values_of("id=\"");
    for link in values_of("href=\"#") {
        assert!(targets.contains(&link), "#{link} is nowhere");
    }
    let mut unique = targets.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), targets.len(), "an id is there twice");
}

#[tokio::test]
async fn the_reference_explains_every_problem() {
    let page = page().await;
    let text = text_of(&page);
    for code in Code::ALL {
        assert!(page.contains(&format!("href=\"problems/{}\"", code.as_str())));
        assert!(text.contains(&plain(code.description())));
    }
}
