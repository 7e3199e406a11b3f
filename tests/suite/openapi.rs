//! Holds responses against openapi.yaml.

use std::collections::BTreeSet;

use axum::Router;
use axum::body::{Body, to_bytes};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

/// A method, a path as a pattern, and a status.
pub(crate) type Documented = (String, String, u16);

/// The document, and the schemas in it.
pub(crate) struct OpenApi(Value);

/// A response that is as documented.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

impl OpenApi {
    /// Reads the document, and closes what it leaves open to later versions.
    pub(crate) fn new() -> Self {
        let mut document = yaml_serde::from_str(include_str!("../../openapi.yaml")).unwrap();
        close(&mut document);
        Self(document)
    }

    /// Calls the app and checks that the response is documented.
    pub(crate) async fn call(&self, app: &Router, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let response = app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let answer = Answer {
            status: parts.status,
            headers: parts.headers,
            body: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
        };
        self.check(&method, &path, &answer);
        answer
    }

    /// Checks that a response is documented: its status, its headers, its type and its body. HEAD is
    /// as GET, and the pages for people are not documented. What is not here at all is a problem.
    pub(crate) fn check(&self, method: &Method, path: &str, answer: &Answer) {
        let context = format!("{method} {path} {}", answer.status);
        let name = match *method {
            Method::HEAD => "get".to_owned(),
            _ => method.as_str().to_lowercase(),
        };
        let is_problem = answer.header("content-type") == "application/problem+json";
        if is_undocumented(path) && !is_problem {
            return;
        }
        let operation = self.template(path).map(|path| &self.0["paths"][path][name]);
        match operation {
            Some(operation) if operation.is_object() => {
                let response = &operation["responses"][answer.status.as_str()];
                assert!(response.is_object(), "{context} is not documented");
                self.check_response(self.resolved(response), method, answer, &context);
            }
            Some(_) => assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{context}"),
            None if is_undocumented(path) => {}
            None => assert_eq!(answer.status, StatusCode::NOT_FOUND, "{context}"),
        }
        if operation.is_none_or(|operation| !operation.is_object()) {
            assert_eq!(
                answer.header("content-type"),
                "application/problem+json",
                "{context}"
            );
            if method != Method::HEAD {
                self.validate(
                    &json!({"$ref": "#/components/schemas/Problem"}),
                    &answer.json(),
                    &context,
                );
            }
        }
    }

    fn check_response(&self, response: &Value, method: &Method, answer: &Answer, context: &str) {
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let header = self.resolved(header);
            let Some(value) = answer.headers.get(name) else {
                assert!(header["required"] != json!(true), "{context} has no {name}");
                continue;
            };
            let text = value.to_str().unwrap();
            let value = match header["schema"]["type"].as_str() {
                Some("integer") => json!(text.parse::<u64>().unwrap()),
                _ => json!(text),
            };
            self.validate(&header["schema"], &value, &format!("{context} {name}"));
        }
        if !response["content"].is_object() {
            assert!(answer.body.is_empty(), "{context}");
            return;
        }
        let content_type = answer.headers.get(CONTENT_TYPE).unwrap().to_str().unwrap();
        let essence = content_type.split(';').next().unwrap();
        let media = &response["content"][essence];
        assert!(
            media.is_object(),
            "{context} is {content_type}, not {}",
            response["content"]
        );
        if method == Method::HEAD {
            assert!(answer.body.is_empty(), "{context}");
            return;
        }
        let body = match essence {
            "application/json" | "application/problem+json" => answer.json(),
            "application/yaml" => yaml_serde::from_slice(&answer.body).unwrap(),
            _ => json!(std::str::from_utf8(&answer.body).unwrap()),
        };
        self.validate(&media["schema"], &body, context);
    }

    /// Checks that a line of a batch's answers is one of the two things that it may be.
    pub(crate) fn check_line(&self, line: &Value) {
        let name = if line["code"].is_string() {
            "Problem"
        } else {
            "SolveResponse"
        };
        let schema = json!({"$ref": format!("#/components/schemas/{name}")});
        self.validate(&schema, line, "a line");
    }

    /// Every documented response.
    pub(crate) fn documented(&self) -> BTreeSet<Documented> {
        let mut documented = BTreeSet::new();
        for (method, path, operation) in self.operations() {
            for status in operation["responses"].as_object().unwrap().keys() {
                documented.insert((method.clone(), path.clone(), status.parse().unwrap()));
            }
        }
        documented
    }

    /// Every method and path that is documented.
    pub(crate) fn operations(&self) -> Vec<(String, String, &Value)> {
        let paths = self.0["paths"].as_object().unwrap();
        let operations = paths.iter().flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().iter();
            methods
                .filter(|(name, _)| *name != "parameters")
                .map(|(method, operation)| (method.to_uppercase(), path.clone(), operation))
        });
        operations.collect()
    }

    /// Checks every example against the schema beside it, and says how many there were.
    pub(crate) fn check_examples(&self) -> usize {
        let mut count = 0;
        visit(&self.0, &mut |media| {
            let schema = &media["schema"];
            let many = media["examples"].as_object().into_iter().flatten();
            let examples = many
                .map(|(_, example)| &example["value"])
                .chain(media.get("example"));
            for example in examples {
                self.validate(schema, example, &format!("example {example}"));
                count += 1;
            }
        });
        count
    }

    /// The pattern that a path matches.
    pub(crate) fn template(&self, path: &str) -> Option<&str> {
        let path = path.split('?').next().unwrap();
        let segments: Vec<&str> = path.split('/').collect();
        let matches = |template: &&String| {
            let template: Vec<&str> = template.split('/').collect();
            template.len() == segments.len()
                && template
                    .iter()
                    .zip(&segments)
                    .all(|(expected, segment)| expected.starts_with('{') || expected == segment)
        };
        let mut templates: Vec<&String> = self.0["paths"].as_object().unwrap().keys().collect();
        // A path without a parameter goes before one with.
        templates.sort_by_key(|template| template.contains('{'));
        templates.into_iter().find(matches).map(String::as_str)
    }

    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => self.0.pointer(reference.trim_start_matches('#')).unwrap(),
            None => value,
        }
    }

    fn validate(&self, schema: &Value, value: &Value, context: &str) {
        let schema = json!({"allOf": [schema], "components": self.0["components"]});
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{context}: {errors:?} in {value}");
    }
}

/// Whether a path is one of those that are for people and generators, not for clients of the API.
pub(crate) fn is_undocumented(path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    [
        "",
        "assets",
        "docs",
        "openapi.json",
        "openapi.yaml",
        "problems",
    ]
    .contains(&first)
}

/// Closes every object to other fields, and every list of values to other values.
fn close(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("properties").is_some_and(Value::is_object) {
                map.insert("additionalProperties".to_owned(), json!(false));
            }
            if let Some(values) = map.remove("x-extensible-enum") {
                map.insert("enum".to_owned(), values);
            }
            map.values_mut().for_each(close);
        }
        Value::Array(list) => list.iter_mut().for_each(close),
        _ => {}
    }
}

/// Calls the visitor with everything that has a schema.
fn visit(value: &Value, visitor: &mut impl FnMut(&Value)) {
    if value["schema"].is_object() {
        visitor(value);
    }
    let children: Vec<&Value> = match value {
        Value::Object(map) => map.values().collect(),
        Value::Array(list) => list.iter().collect(),
        _ => Vec::new(),
    };
    for child in children {
        visit(child, visitor);
    }
}
