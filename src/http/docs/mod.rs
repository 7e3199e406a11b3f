//! `GET /docs`, `/openapi.yaml` and `/openapi.json`: the API for people and for programs.

mod html;
mod operation;
mod schema;

use std::fmt::Write;

use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, HeaderValue};
use yaml_serde::Value;

use super::caching::{NO_CACHE, Representation};
use super::page::Page;
use super::problem::Code;
use super::{AppState, JSON};
use crate::service::Config;
use html::{escape, paragraphs};

const OPENAPI: &str = include_str!("../../../openapi.yaml");
const YAML: HeaderValue = HeaderValue::from_static("application/yaml");
/// The field of a schema that holds the limit of the server, and its two values in the file.
const MAXIMUM: &str = "x-server-maximum";
const MAX_DEPTH: &str = "x-server-maximum: 32";
const MAX_TIMEOUT: &str = "x-server-maximum: 10000";

/// The API document in all its forms, with the limits of the server.
pub(super) struct Documents {
    yaml: Representation,
    json: Representation,
    page: Page,
}

impl Documents {
    pub(super) fn new(config: &Config) -> Self {
        let yaml = OPENAPI
            .replace(MAX_DEPTH, &format!("{MAXIMUM}: {}", config.max_depth))
            .replace(
                MAX_TIMEOUT,
                &format!("{MAXIMUM}: {}", config.search_timeout.as_millis()),
            );
        let document = yaml_serde::from_str(&yaml).expect("openapi.yaml is YAML, as tests check");
        let json = serde_json::to_vec(&document).expect("its keys are strings, as tests check");
        let page = Page::of_text(
            "./",
            "The API reference: rotation-game",
            "Every operation, parameter, schema, example and problem of the rotation-game API.",
            &Reference(document).render(),
        );
        Self {
            yaml: Representation::new(YAML, NO_CACHE, yaml),
            json: Representation::new(JSON, NO_CACHE, json),
            page,
        }
    }
}

/// `GET /docs`.
pub(super) async fn docs(State(state): State<AppState>, headers: HeaderMap) -> Response {
    state.documents().page.respond(&headers)
}

/// `GET /openapi.yaml`.
pub(super) async fn yaml(State(state): State<AppState>, headers: HeaderMap) -> Response {
    state.documents().yaml.respond(&headers)
}

/// `GET /openapi.json`.
pub(super) async fn json(State(state): State<AppState>, headers: HeaderMap) -> Response {
    state.documents().json.respond(&headers)
}

/// The document, and how it is written out as HTML.
///
/// What it does not know of a document, such as a keyword of a schema, it writes as it stands, so
/// that nothing is left out.
struct Reference(Value);

impl Reference {
    fn render(&self) -> String {
        let mut out = String::new();
        let info = &self.0["info"];
        out += "<h1>The API reference</h1>";
        let _ = write!(
            out,
            "<p class=\"lead\">{} {} version {}, licensed under {}. For machines: \
             <a href=\"openapi.yaml\">openapi.yaml</a> and <a href=\"openapi.json\">openapi.json</a>, OpenAPI {}.</p>",
            escape(text(&info["summary"])),
            escape(text(&info["title"])),
            escape(text(&info["version"])),
            escape(text(&info["license"]["name"])),
            escape(text(&self.0["openapi"])),
        );
        self.contents(&mut out);
        out += &paragraphs(text(&info["description"]));
        out += "<p>Paths are relative to ";
        for server in list(&self.0["servers"]) {
            let url = escape(text(&server["url"]));
            let description = escape(text(&server["description"]));
            let _ = write!(out, "<code>{url}</code> ({description})");
        }
        out += ".</p>";
        for tag in list(&self.0["tags"]) {
            let name = escape(text(&tag["name"]));
            let _ = write!(out, "<section><h2 id=\"{name}\">{name}</h2>");
            out += &paragraphs(text(&tag["description"]));
            self.operations(&mut out, text(&tag["name"]));
            out += "</section>";
        }
        self.shared_responses(&mut out);
        self.schemas(&mut out);
        problems(&mut out);
        out
    }

    /// Links to everything.
    fn contents(&self, out: &mut String) {
        *out += "<nav class=\"contents\" aria-label=\"Contents\"><ul>";
        for tag in list(&self.0["tags"]) {
            let name = text(&tag["name"]);
            let _ = write!(out, "<li><a href=\"#{0}\">{0}</a><ul>", escape(name));
            for operation in self.tagged(name) {
                let _ = write!(
                    out,
                    "<li><a href=\"#{}\">{} {}</a></li>",
                    escape(operation.id()),
                    operation.method.to_uppercase(),
                    escape(operation.path),
                );
            }
            *out += "</ul></li>";
        }
        *out += "<li><a href=\"#responses\">Shared responses</a></li>\
                 <li><a href=\"#schemas\">Schemas</a></li>\
                 <li><a href=\"#problems\">Problems</a></li></ul></nav>";
    }

    fn shared_responses(&self, out: &mut String) {
        *out += "<section><h2 id=\"responses\">Shared responses</h2>";
        for (name, response) in entries(&self.0["components"]["responses"]) {
            let name = escape(name);
            let _ = write!(out, "<article><h3 id=\"response-{name}\">{name}</h3>");
            self.response(out, response);
            *out += "</article>";
        }
        *out += "</section>";
    }

    fn schemas(&self, out: &mut String) {
        *out += "<section><h2 id=\"schemas\">Schemas</h2>";
        for (name, schema) in entries(&self.0["components"]["schemas"]) {
            let name = escape(name);
            let _ = write!(out, "<article><h3 id=\"schema-{name}\">{name}</h3>");
            *out += &schema::describe(schema);
            *out += "</article>";
        }
        *out += "</section>";
    }

    /// What a value stands for, and its name if it is a reference.
    fn resolve<'a>(&'a self, value: &'a Value) -> (&'a Value, Option<&'a str>) {
        let Some(reference) = value["$ref"].as_str() else {
            return (value, None);
        };
        let names = reference.trim_start_matches("#/").split('/');
        let target = names.fold(&self.0, |value, name| &value[name]);
        (target, Some(name_of(reference)))
    }
}

fn problems(out: &mut String) {
    *out += "<section><h2 id=\"problems\">Problems</h2><dl class=\"fields\">";
    for code in Code::ALL {
        let _ = write!(
            out,
            "<dt><a href=\"problems/{name}\"><code>{name}</code></a> <span class=\"muted\">{status}\
             </span></dt><dd><p>{title}. {description}</p></dd>",
            name = code.as_str(),
            status = code.status().as_u16(),
            title = escape(code.title()),
            description = escape(code.description()),
        );
    }
    *out += "</dl></section>";
}

/// The last part of a reference.
fn name_of(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default().trim_end()
}

fn list(value: &Value) -> &[Value] {
    value.as_sequence().map_or(&[], Vec::as_slice)
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let mapping = value.as_mapping().into_iter().flatten();
    mapping.filter_map(|(key, value)| Some((key.as_str()?, value)))
}
