//! The tests from outside: through the library's public face and through the real program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analysis;
mod api;
mod batch;
mod board_commands;
mod boards;
mod cases;
mod census_command;
mod contract;
mod corpus;
mod deployment;
mod docs;
mod document;
mod draining;
mod engine;
mod faults;
mod frames;
mod framing;
mod goal_requests;
mod goals;
mod half_close;
mod hostile;
mod hostile_http2;
mod lifecycle;
mod limits;
mod openapi;
mod operations;
mod options;
mod oracle;
mod page;
mod properties;
mod readme;
mod running;
mod scene;
mod service;
mod solve_command;
mod support;
mod time_limits;
