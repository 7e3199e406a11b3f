//! Lines for machines: one object a line, with the names that tracing-subscriber gives them.

use std::fmt::{self, Debug};
use std::io::Write;

use serde::Serialize;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use super::log::{LINE_BYTES, now};

/// Writes a line.
pub(super) struct JsonLine;

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut json = Vec::with_capacity(LINE_BYTES);
        json.extend_from_slice(b"{\"timestamp\":\"");
        write!(json, "{}", now()).map_err(|_| fmt::Error)?;
        json.extend_from_slice(b"\",\"level\":");
        write_value(&mut json, event.metadata().level().as_str());
        write_fields(&mut json, event);
        json.extend_from_slice(b",\"target\":");
        write_value(&mut json, event.metadata().target());
        if let Some(span) = context.lookup_current() {
            json.extend_from_slice(b",\"span\":{\"name\":");
            write_value(&mut json, span.name());
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>() {
                json.extend_from_slice(fields.as_bytes());
            }
            json.push(b'}');
        }
        json.extend_from_slice(b"}\n");
        write(line, &json)
    }
}

/// Writes the fields of a line or of a span, each after a comma.
pub(super) struct JsonFields;

impl<'writer> FormatFields<'writer> for JsonFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut json = Vec::with_capacity(LINE_BYTES);
        write_fields(&mut json, fields);
        write(writer, &json)
    }
}

fn write(mut writer: Writer<'_>, json: &[u8]) -> fmt::Result {
    writer.write_str(str::from_utf8(json).map_err(|_| fmt::Error)?)
}

fn write_fields(json: &mut Vec<u8>, fields: impl RecordFields) {
    fields.record(&mut Fields(json));
}

struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn write(&mut self, field: &Field, value: impl Serialize) {
        self.0.push(b',');
        write_value(self.0, field.name());
        self.0.push(b':');
        write_value(self.0, value);
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.write(field, format!("{value:?}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.write(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.write(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.write(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.write(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.write(field, value);
    }
}

fn write_value(json: &mut Vec<u8>, value: impl Serialize) {
    serde_json::to_writer(json, &value).expect("strings and numbers always serialize");
}

#[cfg(test)]
mod tests {
    use crate::telemetry::log::LogFormat;
    use crate::telemetry::log::tests::logged;
    use serde_json::{Value, json};

    #[test]
    fn a_line_is_an_object_with_fields_target_and_innermost_span() {
        let strange = "a\n\u{1b}\"\\é";
        let lines = logged(LogFormat::Json, || {
            let _outer = tracing::error_span!("outer", id = "one").entered();
            let _inner = tracing::error_span!("inner", strange, number = 1).entered();
            tracing::warn!(is_so = true, ratio = 0.5, "told {strange}");
            tracing::info!(target: "access", count = 3_u64, below = -3, none = f64::NAN, shown = ?[1, 2]);
        });
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| {
                let mut line: Value = serde_json::from_str(line).unwrap();
                let time = line.as_object_mut().unwrap().remove("timestamp").unwrap();
                assert!(humantime::parse_rfc3339(time.as_str().unwrap()).is_ok());
                line
            })
            .collect();
        let span = json!({"name": "inner", "strange": strange, "number": 1});
        assert_eq!(
            lines,
            [
                json!({
                    "level": "WARN", "message": format!("told {strange}"), "is_so": true, "ratio": 0.5,
                    "target": module_path!(), "span": span,
                }),
                json!({
                    "level": "INFO", "count": 3, "below": -3, "none": null, "shown": "[1, 2]",
                    "target": "access", "span": span,
                }),
            ]
        );
    }
}
