use std::fmt::Write;

use yaml_serde::Value;

use super::html::{code, escape, example, inline, paragraphs};
use super::{Reference, entries, list, schema, text};

/// What a method does at a path.
pub(super) struct Operation<'a> {
    pub(super) path: &'a str,
    pub(super) method: &'a str,
    /// All that is at the path.
    item: &'a Value,
    body: &'a Value,
}

impl<'a> Operation<'a> {
    pub(super) fn id(&self) -> &'a str {
        text(&self.body["operationId"])
    }

    /// Those of the path, then its own.
    fn parameters(&self) -> impl Iterator<Item = &'a Value> {
        list(&self.item["parameters"])
            .iter()
            .chain(list(&self.body["parameters"]))
    }
}

impl Reference {
    /// The operations with this tag.
    pub(super) fn tagged(&self, tag: &str) -> impl Iterator<Item = Operation<'_>> {
        let paths = entries(&self.0["paths"]);
        let all = paths.flat_map(|(path, item)| {
            let methods = entries(item).filter(|(name, _)| *name != "parameters");
            methods.map(move |(method, body)| Operation {
                path,
                method,
                item,
                body,
            })
        });
        all.filter(move |operation| {
            let mut tags = list(&operation.body["tags"]).iter();
            tags.any(|known| text(known) == tag)
        })
    }

    pub(super) fn operations(&self, out: &mut String, tag: &str) {
        for operation in self.tagged(tag) {
            let title = format!(
                "<span class=\"method\">{}</span> <code>{}</code>",
                operation.method.to_uppercase(),
                escape(operation.path),
            );
            let id = escape(operation.id());
            let summary = inline(text(&operation.body["summary"]));
            let _ = write!(
                out,
                "<article><h3 id=\"{id}\">{title}</h3><p class=\"summary\">{summary}</p>"
            );
            *out += &paragraphs(text(&operation.body["description"]));
            self.parameters(out, &operation);
            self.request_body(out, &operation.body["requestBody"]);
            self.responses(out, &operation.body["responses"]);
            *out += "</article>";
        }
    }

    fn parameters(&self, out: &mut String, operation: &Operation<'_>) {
        let mut parameters = operation.parameters().peekable();
        if parameters.peek().is_none() {
            return;
        }
        *out += "<h4>Parameters</h4><dl class=\"fields\">";
        for parameter in parameters {
            let (parameter, _) = self.resolve(parameter);
            let need = if parameter["required"] == Value::Bool(true) {
                "required"
            } else {
                "optional"
            };
            let _ = write!(
                out,
                "<dt><code>{}</code> <span class=\"muted\">{}, {need}</span></dt><dd><p>{}</p>{}",
                escape(text(&parameter["name"])),
                escape(text(&parameter["in"])),
                inline(text(&parameter["description"])),
                schema::describe(&parameter["schema"]),
            );
            if !parameter["example"].is_null() {
                let _ = write!(
                    out,
                    "<p class=\"muted\">Such as {}</p>",
                    code(&parameter["example"])
                );
            }
            *out += "</dd>";
        }
        *out += "</dl>";
    }

    fn request_body(&self, out: &mut String, body: &Value) {
        if body.is_null() {
            return;
        }
        *out += "<h4>Body</h4>";
        content(out, &self.resolve(body).0["content"]);
    }

    fn responses(&self, out: &mut String, responses: &Value) {
        *out += "<h4>Responses</h4><dl class=\"fields\">";
        for (status, response) in entries(responses) {
            let _ = write!(out, "<dt><strong>{}</strong></dt><dd>", escape(status));
            let (response, name) = self.resolve(response);
            if let Some(name) = name {
                let _ = write!(
                    out,
                    "<p><a href=\"#response-{0}\">{0}</a>: {1}</p>",
                    escape(name),
                    inline(text(&response["description"])),
                );
            } else {
                self.response(out, response);
            }
            *out += "</dd>";
        }
        *out += "</dl>";
    }

    /// A response with its headers and bodies.
    pub(super) fn response(&self, out: &mut String, response: &Value) {
        *out += &paragraphs(text(&response["description"]));
        if response["headers"].is_mapping() {
            *out += "<dl class=\"headers\">";
            for (name, header) in entries(&response["headers"]) {
                let (header, _) = self.resolve(header);
                let need = if header["required"] == Value::Bool(true) {
                    "always"
                } else {
                    "sometimes"
                };
                let _ = write!(
                    out,
                    "<dt><code>{}</code> <span class=\"muted\">{need}</span></dt><dd><p>{}</p>{}</dd>",
                    escape(name),
                    inline(text(&header["description"])),
                    schema::describe(&header["schema"]),
                );
            }
            *out += "</dl>";
        }
        content(out, &response["content"]);
    }
}

/// Bodies by their media types.
fn content(out: &mut String, content: &Value) {
    for (media_type, media) in entries(content) {
        let _ = write!(
            out,
            "<div class=\"media\"><p><code>{}</code></p>{}",
            escape(media_type),
            schema::describe(&media["schema"])
        );
        if !media["example"].is_null() {
            *out += &example(&media["example"]);
        }
        for (name, named) in entries(&media["examples"]) {
            let caption = named["summary"].as_str().unwrap_or(name);
            let _ = write!(
                out,
                "<p class=\"muted\">{}</p>{}",
                escape(caption),
                example(&named["value"])
            );
        }
        *out += "</div>";
    }
}
