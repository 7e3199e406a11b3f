//! Lines for people, where they are not shown in colour: as the default writes them, in less than
//! half of its time, and with control characters escaped.

use std::fmt::{self, Debug, Write};
use std::mem;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use super::log::{LINE_BYTES, now};

/// Writes a line.
pub(super) struct TextLine;

impl<S, N> FormatEvent<S, N> for TextLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut text = String::with_capacity(LINE_BYTES);
        write!(text, "{}", now())?;
        text.push_str(padded(*event.metadata().level()));
        if let Some(spans) = context.event_scope() {
            for span in spans.from_root() {
                text.push_str(span.name());
                if let Some(fields) = span.extensions().get::<FormattedFields<N>>()
                    && !fields.is_empty()
                {
                    text.extend(["{", fields, "}"]);
                }
                text.push(':');
            }
            text.push(' ');
        }
        text.extend([event.metadata().target(), ": "]);
        write_fields(&mut text, event);
        text.push('\n');
        line.write_str(&text)
    }
}

fn padded(level: Level) -> &'static str {
    match level {
        Level::ERROR => " ERROR ",
        Level::WARN => "  WARN ",
        Level::INFO => "  INFO ",
        Level::DEBUG => " DEBUG ",
        Level::TRACE => " TRACE ",
    }
}

/// Writes the fields of a line or of a span.
pub(super) struct TextFields;

impl<'writer> FormatFields<'writer> for TextFields {
    fn format_fields<R: RecordFields>(
        &self,
        mut writer: Writer<'writer>,
        fields: R,
    ) -> fmt::Result {
        let mut text = String::with_capacity(LINE_BYTES);
        write_fields(&mut text, fields);
        writer.write_str(&text)
    }
}

fn write_fields(text: &mut String, fields: impl RecordFields) {
    let is_first = true;
    fields.record(&mut Fields { text, is_first });
}

/// Everything is written into one string first: through the writers, each piece of it would cost
/// several calls.
struct Fields<'a> {
    text: &'a mut String,
    is_first: bool,
}

impl Fields<'_> {
    fn write_name(&mut self, field: &Field) {
        if !mem::take(&mut self.is_first) {
            self.text.push(' ');
        }
        if field.name() != "message" {
            self.text.extend([field.name(), "="]);
        }
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.write_name(field);
        // What cannot show itself stands there as far as it did.
        let _ = write!(OneLine(self.text), "{value:?}");
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.write_name(field);
        self.text.push_str(itoa::Buffer::new().format(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if !is_plain(value) {
            return self.record_debug(field, &value);
        }
        self.write_name(field);
        self.text.extend(["\"", value, "\""]);
    }
}

/// Writes control characters as escapes, so that no value can begin another line.
struct OneLine<'a>(&'a mut String);

impl Write for OneLine<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if is_plain(part) {
            self.0.push_str(part);
            return Ok(());
        }
        for character in part.chars() {
            if character.is_control() {
                self.0.extend(character.escape_default());
            } else {
                self.0.push(character);
            }
        }
        Ok(())
    }
}

/// Whether a text has nothing to escape, which is most.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use crate::telemetry::log::LogFormat;
    use crate::telemetry::log::tests::{collected, logged};
    use tracing_subscriber::Layer;

    #[test]
    fn no_value_can_begin_another_line() {
        let line = logged(LogFormat::Text, || {
            let value = "a\n\u{1b}[31mb\u{85}";
            tracing::info!(text = value, shown = %value, "said {value}");
        });
        let escaped = r"a\n\u{1b}[31mb\u{85}";
        let end = format!("said {escaped} text=\"{escaped}\" shown={escaped}\n");
        assert!(line.ends_with(&end), "{line}");
    }

    #[test]
    fn lines_are_those_of_the_default() {
        let traced = || {
            let _outer = tracing::error_span!("outer", id = "one", number = 1).entered();
            let _inner = tracing::error_span!("inner").entered();
            tracing::error!("no field");
            tracing::warn!(text = "a \"b\"", is_so = true, ratio = 0.5, "fields");
            tracing::info!(target: "access", count = 3_u64, below = -3, shown = ?[1, 2]);
        };
        let default = |lines| {
            let layer = tracing_subscriber::fmt::layer().with_writer(lines);
            layer.with_ansi(false).boxed()
        };
        // All but the times.
        let without_times = |lines: String| -> Vec<String> {
            lines.lines().map(|line| line[27..].to_owned()).collect()
        };
        let lines = without_times(logged(LogFormat::Text, traced));
        assert_eq!(lines, without_times(collected(default, traced)));
        assert_eq!(lines.len(), 3);
    }
}
