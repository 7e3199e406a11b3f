use std::fmt::Write;

use yaml_serde::Value;

use super::html::{code, escape, inline};
use super::{entries, list, name_of, text};

/// A schema in words: its type and its limits, its description, and what it consists of.
pub(super) fn describe(schema: &Value) -> String {
    let mut out = format!("<p class=\"type\">{}</p>", summary(schema));
    if let Some(description) = schema["description"].as_str() {
        let _ = write!(out, "<p>{}</p>", inline(description.trim_end()));
    }
    let alternatives = ["oneOf", "anyOf"].map(|name| list(&schema[name]));
    let alternatives = alternatives.concat();
    if !alternatives.is_empty() {
        out += "<ul>";
        for alternative in &alternatives {
            let _ = write!(out, "<li>{}</li>", describe(alternative));
        }
        out += "</ul>";
    }
    if schema["properties"].is_mapping() {
        out += &properties(schema);
    }
    if schema["items"].is_mapping() {
        let _ = write!(
            out,
            "<div class=\"items\"><p class=\"muted\">Each item:</p>{}</div>",
            describe(&schema["items"])
        );
    }
    out
}

fn properties(schema: &Value) -> String {
    let required: Vec<&str> = list(&schema["required"]).iter().map(text).collect();
    let mut out = "<dl class=\"fields\">".to_owned();
    for (name, property) in entries(&schema["properties"]) {
        let need = if required.contains(&name) {
            "required"
        } else {
            "optional"
        };
        let _ = write!(
            out,
            "<dt><code>{}</code> <span class=\"muted\">{need}</span></dt><dd>{}</dd>",
            escape(name),
            describe(property)
        );
    }
    out + "</dl>"
}

/// Type and limits in one line.
fn summary(schema: &Value) -> String {
    let parts = entries(schema).filter_map(|(keyword, value)| match keyword {
        // Told by `describe`.
        "description" | "properties" | "required" | "items" => None,
        "oneOf" | "anyOf" => Some("one of these".to_owned()),
        "$ref" => {
            let name = escape(name_of(text(value)));
            Some(format!("<a href=\"#schema-{name}\">{name}</a>"))
        }
        "type" => Some(type_name(value)),
        "additionalProperties" if value == &Value::Bool(false) => {
            Some("without other fields".to_owned())
        }
        "x-extensible-enum" => {
            let values: Vec<String> = list(value).iter().map(code).collect();
            Some(format!("such as {}", values.join(" or ")))
        }
        "x-server-maximum" => Some(format!("on this server at most {}", code(value))),
        "enum" => {
            let values: Vec<String> = list(value).iter().map(code).collect();
            Some(values.join(" or "))
        }
        "minimum" | "maximum" | "default" => Some(format!("{keyword} {}", code(value))),
        "minItems" => Some(format!("at least {}", code(value))),
        "maxItems" => Some(format!("at most {}", code(value))),
        "pattern" => Some(format!("as {}", code(value))),
        _ => Some(format!("{} {}", escape(keyword), code(value))),
    });
    parts.collect::<Vec<String>>().join(", ")
}

fn type_name(value: &Value) -> String {
    match value.as_sequence() {
        Some(types) => types.iter().map(text).collect::<Vec<&str>>().join(" or "),
        None => text(value).to_owned(),
    }
}
