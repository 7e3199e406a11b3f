//! Parsers of option values that have to lie between bounds.
//!
//! Each option names its bounds in its help. A value that is out of bounds stops the start, since
//! some would only fail later: an hour can be added to any point in time, 500 billion years cannot.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use humantime::{format_duration, parse_duration};

/// Returns a parser of durations within `bounds`.
pub(super) fn duration(
    bounds: RangeInclusive<Duration>,
) -> impl Fn(&str) -> Result<Duration, String> + Clone {
    move |text| {
        let expected = || {
            let [from, to] = [*bounds.start(), *bounds.end()].map(format_duration);
            expected("a duration", from, to, text)
        };
        match parse_duration(text) {
            Ok(duration) if bounds.contains(&duration) => Ok(duration),
            Ok(_) => Err(expected()),
            Err(error) => Err(format!("{}: {error}", expected())),
        }
    }
}

/// Returns a parser of whole numbers within `bounds`.
pub(super) fn number<T: TryFrom<usize>>(
    bounds: RangeInclusive<usize>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| expected("a whole number", bounds.start(), bounds.end(), text))
    }
}

fn expected(what: &str, from: impl Display, to: impl Display, found: &str) -> String {
    format!("expected {what} from {from} to {to}, found {found}")
}
