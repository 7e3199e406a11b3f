//! The tests from outside: through the library's public face and through the real program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod census_command;
mod limits;
mod oracle;
mod solve_command;
mod support;
