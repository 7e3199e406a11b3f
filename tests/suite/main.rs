//! The tests from outside: through the library's public face and through the real program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analysis;
mod batch;
mod board_commands;
mod cases;
mod census_command;
mod contract;
mod engine;
mod lifecycle;
mod limits;
mod openapi;
mod options;
mod oracle;
mod readme;
mod running;
mod service;
mod solve_command;
mod support;
