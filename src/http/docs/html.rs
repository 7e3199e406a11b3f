use std::fmt::Write;

use yaml_serde::Value;

/// The text with what HTML would read as its own put in other words.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The parts of Markdown that openapi.yaml uses: paragraphs, indented drawings, and code between
/// backticks.
pub(super) fn paragraphs(text: &str) -> String {
    let blocks = text.split("\n\n").map(str::trim_end);
    let blocks = blocks.filter(|block| !block.is_empty()).map(|block| {
        if block.lines().all(|line| line.starts_with("    ")) {
            format!("<pre>{}</pre>", escape(block))
        } else {
            format!("<p>{}</p>", inline(block))
        }
    });
    blocks.collect()
}

/// A text with code between backticks.
pub(super) fn inline(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| {
        if index % 2 == 0 {
            escape(part)
        } else {
            format!("<code>{}</code>", escape(part))
        }
    });
    parts.collect()
}

/// A value as code: JSON, or a text as it is.
pub(super) fn code(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| json(value), str::to_owned);
    format!("<code>{}</code>", escape(text.trim_end()))
}

/// An example.
pub(super) fn example(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| pretty(value), str::to_owned);
    format!(
        "<pre tabindex=\"0\"><code>{}</code></pre>",
        escape(text.trim_end())
    )
}

fn json(value: &Value) -> String {
    serde_json::to_string(value).expect("what YAML says here, JSON can say")
}

/// JSON with the fields of an object, and objects of a list, each on a line of their own.
fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write_pretty(&mut out, value, 0);
    out
}

fn write_pretty(out: &mut String, value: &Value, depth: usize) {
    let indent = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    match value {
        Value::Mapping(fields) if !fields.is_empty() => {
            *out += "{\n";
            for (index, (name, value)) in fields.iter().enumerate() {
                let separator = if index == 0 { "" } else { ",\n" };
                let _ = write!(out, "{separator}{indent}{}: ", json(name));
                write_pretty(out, value, depth + 1);
            }
            let _ = write!(out, "\n{end}}}");
        }
        Value::Sequence(items) if items.iter().any(Value::is_mapping) => {
            *out += "[\n";
            for (index, item) in items.iter().enumerate() {
                let separator = if index == 0 { "" } else { ",\n" };
                let _ = write!(out, "{separator}{indent}");
                write_pretty(out, item, depth + 1);
            }
            let _ = write!(out, "\n{end}]");
        }
        Value::Sequence(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            let _ = write!(out, "[{}]", items.join(", "));
        }
        _ => *out += &json(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_read_as_html() {
        assert_eq!(
            inline("<b> & `\"a\" < b`"),
            "&lt;b&gt; &amp; <code>&quot;a&quot; &lt; b</code>"
        );
    }

    #[test]
    fn drawings_keep_their_lines_and_paragraphs_do_not() {
        assert_eq!(
            paragraphs("One\ntwo.\n\n    A   B\n    |   |\n\nThree.\n"),
            "<p>One\ntwo.</p><pre>    A   B\n    |   |</pre><p>Three.</p>"
        );
    }

    #[test]
    fn an_example_has_a_line_for_each_field() {
        let value = yaml_serde::from_str("{board: [1, 2], steps: [{n: 1}, {n: 2}], none: {}}");
        assert_eq!(
            pretty(&value.unwrap()),
            "{\n  \"board\": [1, 2],\n  \"steps\": [\n    {\n      \"n\": 1\n    },\n    \
             {\n      \"n\": 2\n    }\n  ],\n  \"none\": {}\n}"
        );
    }
}
