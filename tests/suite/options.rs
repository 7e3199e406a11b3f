//! Every option of the server, seen from outside.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::Duration;

use rstest::rstest;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::frames::PREFACE;
use crate::operations::{OPERATIONS, bounds, help, options};
use crate::running::{Connection, HARDEST, Server, eventually, free_address, metric};
use crate::scene::read_to_end;
#[cfg(target_os = "linux")]
use crate::support::program_with_open_files;
use crate::support::{program, run, text};

const NEAR: &str = "111132323132231222312133";

#[test]
fn max_depth_lowers_that_of_a_request() {
    let server = Server::start(&["--max-depth", "5"]);
    assert_eq!(
        server.solve(&json!({"board": NEAR, "max_depth": 5})).status,
        200
    );
    for request in [
        json!({"board": HARDEST}),
        json!({"board": HARDEST, "max_depth": 13}),
    ] {
        let capped = server.solve(&request);
        assert_eq!(capped.json()["code"], "depth-cap-reached");
        assert_eq!(capped.json()["lower_bound"], 13);
    }
}

#[test]
fn search_timeout_lowers_that_of_a_request_and_is_the_default() {
    let server = Server::start(&["--search-timeout", "2ms"]);
    for timeout_ms in [json!(null), json!(3_600_000)] {
        let request = json!({"board": HARDEST, "heuristic": "misplaced", "timeout_ms": timeout_ms});
        let late = server.solve(&request);
        assert_eq!(
            (late.status, late.json()["code"].as_str()),
            (504, Some("search-timeout"))
        );
        assert!(
            late.json()["lower_bound"].as_u64().unwrap() >= 4,
            "{late:?}"
        );
    }
}

#[test]
fn search_concurrency_and_search_queue_bound_what_runs_and_waits() {
    let server = Server::start(&["--search-concurrency", "1", "--search-queue", "0"]);
    let solve = |explain| json!({"board": HARDEST, "heuristic": "misplaced", "explain": explain});
    let mut busy: Vec<Connection> = (0..20).map(|_| server.connect()).collect();
    // Each of these searches by itself, so all but the first find no place.
    for connection in &mut busy {
        connection.send_solve(&solve(true));
    }
    let statuses: Vec<u16> = busy
        .iter_mut()
        .map(|busy| busy.response().unwrap().status)
        .collect();
    assert!(
        statuses.contains(&200) && statuses.contains(&503),
        "{statuses:?}"
    );
    assert!(
        statuses.iter().all(|status| [200, 503].contains(status)),
        "{statuses:?}"
    );
}

#[test]
fn cache_capacity_0_turns_the_cache_off() {
    let server = Server::start(&["--cache-capacity", "0"]);
    for _ in 0..2 {
        let response = server.solve(&json!({"board": NEAR}));
        assert_eq!(response.header("cache-status"), "rotation-game; fwd=miss");
    }
}

#[test]
fn cache_capacity_bounds_what_is_kept() {
    let server = Server::start(&["--cache-capacity", "2"]);
    let known = |board: &str| {
        let response = server.solve(&json!({"board": board}));
        response.header("cache-status") == "rotation-game; hit"
    };
    let third = "111111112222222233333333";
    let order = [NEAR, HARDEST, NEAR, third, NEAR, HARDEST];
    assert_eq!(order.map(known), [false, false, true, false, true, false]);
}

/// Patterns have a cache of the same size, which takes nothing from the other.
#[test]
fn cache_capacity_bounds_solutions_to_patterns_apart() {
    let server = Server::start(&["--cache-capacity", "2"]);
    let known = |(board, goal): (&str, &str)| {
        let response = server.solve(&json!({"board": board, "goal": goal}));
        response.header("cache-status") == "rotation-game; hit"
    };
    let pattern = "..1...............3..2..";
    let third = "111111112222222233333333";
    let order = [
        (NEAR, "centre"),
        (HARDEST, "centre"),
        (NEAR, pattern),
        (HARDEST, pattern),
        (NEAR, pattern),
        (third, pattern),
        (HARDEST, pattern),
        (NEAR, "centre"),
        (HARDEST, "centre"),
    ];
    let expected = [false, false, false, false, true, false, false, true, true];
    assert_eq!(order.map(known), expected);
}

#[test]
fn goal_cache_bounds_the_tables_of_patterns() {
    let metrics = free_address();
    let server = Server::start(&["--goal-cache", "1", "--metrics-listen", &metrics]);
    for goal in ["113331232232211122313132", "112311231323132213232213"] {
        let answer = server.solve(&json!({"board": NEAR, "goal": goal}));
        assert_eq!(answer.status, 200, "{answer:?}");
        eventually("the tables of one pattern are kept", || {
            metric(&metrics, "rotation_game_goals") == 1
        });
        let bytes = metric(&metrics, "rotation_game_goal_tables_bytes");
        assert!((6_000_000..6_700_000).contains(&bytes), "{bytes}");
    }
}

/// On default settings, there is room for two million answers.
#[test]
fn batch_memory_bounds_answers_that_are_not_read() {
    const LINES: usize = 1_500_000;
    let body = format!("\"{NEAR}\"\n").repeat(LINES);
    let head = format!(
        "POST /solve/batch HTTP/1.1\r\nhost: test\r\ncontent-type: application/x-ndjson\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let server = Server::start(&["--batch-memory", "1"]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    // There is no event to wait for where the server takes no more.
    stream
        .set_write_timeout(Some(Duration::from_secs(2)))
        .unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let error = stream.write_all(body.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

#[test]
fn http2_off_refuses_http_2() {
    let server = Server::start(&["--http2", "off", "--header-timeout", "1h"]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream.write_all(PREFACE).unwrap();
    assert_eq!(read_to_end(&mut stream), "");
}

#[test]
fn beyond_max_connections_a_connection_waits_for_another_to_end() {
    let server = Server::start(&["--max-connections", "1", "--header-timeout", "60s"]);
    let mut first = server.connect();
    first.send("GET /livez HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_eq!(first.response().unwrap().status, 200);
    let mut second = server.connect();
    second.send("GET /livez HTTP/1.1\r\nhost: test\r\n\r\n");
    // The first is still there, and answered.
    first.send("GET /livez HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_eq!(first.response().unwrap().status, 200);
    drop(first);
    assert_eq!(second.response().unwrap().status, 200);
}

#[test]
fn body_timeout_bounds_the_arrival_of_a_body() {
    let server = Server::start(&["--body-timeout", "100ms"]);
    let mut connection = server.connect();
    connection.send(
        "POST /solve HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{",
    );
    let response = connection.response().unwrap();
    assert_eq!(
        (response.status, response.json()["code"].as_str()),
        (408, Some("request-timeout"))
    );
}

#[rstest]
#[case(
    "https://example.org,http://localhost:3000",
    "http://localhost:3000",
    "http://localhost:3000"
)]
#[case("https://example.org", "https://example.com", "")]
#[case("*", "https://example.com", "*")]
fn cors_origin_tells_whose_pages_may_use_it(
    #[case] allowed: &str,
    #[case] origin: &str,
    #[case] expected: &str,
) {
    let server = Server::start(&["--cors-origin", allowed]);
    let mut connection = server.connect();
    connection.send(&format!(
        "OPTIONS /solve HTTP/1.1\r\nhost: test\r\norigin: {origin}\r\n\
         access-control-request-method: POST\r\n\
         access-control-request-headers: content-type\r\n\r\n"
    ));
    let response = connection.response().unwrap();
    assert_eq!(response.header("access-control-allow-origin"), expected);
    connection.send(&format!(
        "GET /nowhere HTTP/1.1\r\nhost: test\r\norigin: {origin}\r\n\r\n"
    ));
    let response = connection.response().unwrap();
    assert_eq!(
        response.header("access-control-allow-origin"),
        expected,
        "on problems too"
    );
}

#[test]
fn the_log_has_one_line_a_request_for_people() {
    let server = Server::start(&[]);
    server.solve(&json!({"board": NEAR}));
    server.signal(Signal::TERM);
    let log = server.end().1;
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("route=\"/solve\""))
        .collect();
    assert_eq!(lines.len(), 1, "{log}");
    for part in [
        "request_id=",
        "method=\"POST\"",
        "status=200",
        "duration_us=",
        "outcome=\"miss\"",
    ] {
        assert!(lines[0].contains(part), "{part} is not in {}", lines[0]);
    }
    assert!(!log.contains(NEAR), "{log}");
}

#[test]
fn the_log_has_one_object_a_request_for_machines() {
    let server = Server::start(&["--log-format", "json", "--log", "debug"]);
    let mut connection = server.connect();
    connection.send(&format!(
        "POST /solve HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n\
         x-request-id: mine\r\ncontent-length: 36\r\n\
         traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n\
         {{\"board\":\"{NEAR}\"}}"
    ));
    assert_eq!(connection.response().unwrap().status, 200);
    server.signal(Signal::TERM);
    let log = server.end().1;
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of_request = |target: &str| -> Vec<&Value> {
        let mine = lines
            .iter()
            .filter(|line| line["span"]["request_id"] == "mine");
        mine.filter(|line| line["target"].as_str().unwrap().starts_with(target))
            .collect()
    };
    let [access] = of_request("access")[..] else {
        panic!("{log}");
    };
    assert_eq!(
        access["span"]["trace_id"],
        "4bf92f3577b34da6a3ce929d0e0e4736"
    );
    assert_eq!(access["span"]["parent_id"], "00f067aa0ba902b7");
    assert_eq!(access["route"], "/solve");
    assert_eq!(access["status"], 200);
    assert_eq!(access["outcome"], "miss");
    assert!(access["duration_us"].is_u64());
    // The thread that searched logs under the same span.
    let [search] = of_request("rotation_game::service")[..] else {
        panic!("{log}");
    };
    assert_eq!(search["nodes"], 3);
}

#[test]
fn the_log_tells_of_a_client_that_has_left() {
    let metrics = free_address();
    let server = Server::start(&["--log-format", "json", "--metrics-listen", &metrics]);
    server.leave_a_search(&metrics);
    server.signal(Signal::TERM);
    let log = server.end().1;
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["route"] == "/solve")
        .collect();
    let [line] = &lines[..] else { panic!("{log}") };
    assert_eq!(
        (&line["status"], &line["outcome"]),
        (&json!(499), &json!("client-closed"))
    );
    assert_eq!(line["level"], "INFO", "nobody has to look into it");
    assert_eq!(line["span"]["request_id"].as_str().unwrap().len(), 16);
}

#[test]
fn a_line_names_its_request_at_every_level() {
    let server = Server::start(&["--log", "warn", "--search-timeout", "1ms"]);
    server.solve(&json!({"board": HARDEST, "heuristic": "misplaced"}));
    server.signal(Signal::TERM);
    let log = server.end().1;
    assert!(
        log.contains("request_id=") && log.contains("search-timeout"),
        "{log}"
    );
}

#[test]
fn an_empty_origin_is_none() {
    let server = Server::start(&["--cors-origin", ""]);
    assert_eq!(
        server.get("/livez").header("access-control-allow-origin"),
        ""
    );
}

#[test]
fn the_log_can_be_turned_off() {
    let server = Server::start(&["--log", "off"]);
    server.solve(&json!({"board": NEAR}));
    server.signal(Signal::TERM);
    assert_eq!(server.end().1, "");
}

#[test]
fn without_a_command_it_serves() {
    // Where it cannot listen it says so, which is enough to see what it tried.
    let run = run(&["--listen", "192.0.2.1:1", "--metrics-listen", "off"], "");
    assert!(
        text(&run.stderr).starts_with("error: cannot listen on 192.0.2.1:1: "),
        "{run:?}"
    );
}

#[test]
fn every_option_is_an_environment_variable_too() {
    for (flag, (variable, _)) in options() {
        let name = flag
            .trim_start_matches('-')
            .to_uppercase()
            .replace('-', "_");
        assert_eq!(variable, format!("ROTATION_GAME_{name}"));
    }
    let output = program()
        .env("ROTATION_GAME_LISTEN", "192.0.2.1:1")
        .env("ROTATION_GAME_METRICS_LISTEN", "off")
        .output()
        .unwrap();
    assert!(
        text(&output.stderr).starts_with("error: cannot listen on 192.0.2.1:1: "),
        "{output:?}"
    );
}

#[rstest]
#[case::a_host_name("localhost:0", "127.0.0.1")]
#[case::every_interface(":0", "0.0.0.0")]
#[case::a_bare_port("0", "127.0.0.1")]
fn listen_accepts(#[case] listen: &str, #[case] host: &str) {
    let server = Server::start(&["--listen", listen]);
    assert_eq!(server.address.ip().to_string(), host);
}

#[rstest]
#[case::a_host_name("localhost:")]
#[case::every_interface(":")]
#[case::a_bare_port("")]
fn metrics_listen_accepts(#[case] host: &str) {
    let address = free_address();
    let (_, port) = address.split_once(':').unwrap();
    let server = Server::start(&["--metrics-listen", &format!("{host}{port}")]);
    assert!(metric(&address, "rotation_game_connections_limit") > 0);
    drop(server);
}

#[test]
fn an_address_that_is_none_shows_what_one_looks_like() {
    for (option, or_off) in [("--listen", ""), ("--metrics-listen", " or `off`")] {
        let message = run(&[option, "localhost"], "").stderr;
        let expected = format!(
            "error: invalid value 'localhost' for '{option} <ADDRESS>': expected an address such as \
             127.0.0.1:8080, [::1]:8080, localhost:8080, :8080 or 8080{or_off}, found localhost\n"
        );
        assert!(text(&message).starts_with(&expected), "{}", text(&message));
    }
}

#[test]
fn an_unknown_host_is_one_clear_line() {
    let run = run(
        &[
            "--listen",
            "no-such-host.invalid:1",
            "--metrics-listen",
            "off",
        ],
        "",
    );
    let message = text(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    assert!(
        message.starts_with("error: cannot listen on no-such-host.invalid:1: ")
            && message.ends_with("; choose another with --listen\n")
            && message.lines().count() == 1,
        "{message}"
    );
}

/// The default port may be taken where the tests run, so each command stops before it listens.
#[test]
fn an_empty_environment_variable_means_unset() {
    let commands: [(&[&str], i32); 5] = [
        (&["serve", "--listen", "192.0.2.1:1"], 1),
        (&["solve", "/dev/null"], 0),
        (&["random"], 0),
        (&["show", NEAR], 0),
        (&["replay", NEAR, "AC"], 0),
    ];
    for (arguments, status) in commands {
        let mut command = program();
        command.args(arguments);
        let help = run(&[arguments[0], "--help"], "").stdout;
        for variable in text(&help).split("[env: ").skip(1) {
            command.env(variable.split('=').next().unwrap(), "");
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
    }
    let health = program()
        .arg("healthcheck")
        .env("ROTATION_GAME_LISTEN", "")
        .output()
        .unwrap();
    assert_ne!(health.status.code(), Some(2), "{health:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_open_files_is_raised() {
    let command = program_with_open_files(256, 1024);
    let server = Server::start_by(command, &["--max-connections", "900"]);
    assert_eq!(server.open_files_limit(), 1024);
    server.signal(Signal::TERM);
    let log = server.end().1;
    assert!(!log.contains("open files"), "{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn too_low_a_limit_of_open_files_is_logged() {
    let command = program_with_open_files(256, 512);
    let server = Server::start_by(command, &["--max-connections", "8192"]);
    server.signal(Signal::TERM);
    let log = server.end().1;
    let line = log.lines().find(|line| line.contains("WARN")).unwrap();
    assert!(
        line.contains("limit=512") && line.contains("needed=8272"),
        "{line}"
    );
}

#[test]
fn every_option_documents_its_bounds() {
    for (option, help) in help() {
        let row = OPERATIONS
            .lines()
            .find(|line| line.starts_with(&format!("| `{option}` ")));
        assert_eq!(bounds(row.unwrap()), bounds(&help), "{option}");
    }
}

#[rstest]
#[case("--max-depth", "0", "32", "33")]
#[case("--search-timeout", "1ms", "1h", "1h 1ms")]
#[case("--search-concurrency", "1", "1024", "1025")]
#[case("--search-queue", "0", "1000000", "1000001")]
#[case("--cache-capacity", "0", "100000000", "100000001")]
#[case("--goal-cache", "1", "4096", "4097")]
#[case("--max-connections", "1", "1000000", "1000001")]
#[case("--header-timeout", "1ms", "1h", "500000000000years")]
#[case("--body-timeout", "1ms", "1h", "500000000000years")]
#[case("--drain-timeout", "0s", "1day", "2days")]
#[case("--shutdown-pause", "0s", "1h", "2days")]
fn an_option_serves_at_its_maximum_and_refuses_more(
    #[case] option: &str,
    #[case] least: &str,
    #[case] most: &str,
    #[case] beyond: &str,
) {
    // It cannot listen there, so that it ends even where it takes the value.
    let nowhere = ["--listen", "192.0.2.1:1", "--metrics-listen", "off"];
    let run = run(&[&nowhere[..], &[option, beyond]].concat(), "");
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    let expected = format!(" from {least} to {most}, found {beyond}\n");
    let message = text(&run.stderr);
    assert!(message.contains(&expected), "{message}");
    let named = bounds(&help()[option]);
    assert_eq!(named, Some((least.to_owned(), most.to_owned())));

    let server = Server::start(&[option, most]);
    for heuristic in ["pattern-database", "misplaced"] {
        let answer = server.solve(&json!({"board": HARDEST, "heuristic": heuristic}));
        assert_eq!(answer.status, 200, "{heuristic}: {answer:?}");
    }
}

#[rstest]
#[case("--listen", "here")]
#[case("--listen", "127.0.0.1")]
#[case("--listen", "127.0.0.1:99999")]
#[case("--listen", "localhost")]
#[case("--listen", ":99999")]
#[case("--listen", "::1:8080")]
#[case("--listen", "http://localhost:8080")]
#[case("--listen", "")]
#[case("--metrics-listen", "none")]
#[case("--max-depth", "33")]
#[case("--max-depth", "-1")]
#[case("--search-timeout", "10")]
#[case("--search-timeout", "0s")]
#[case("--search-concurrency", "0")]
#[case("--search-concurrency", "18446744073709551615")]
#[case("--search-queue", "many")]
#[case("--cache-capacity", "1.5")]
#[case("--max-connections", "0")]
#[case("--header-timeout", "0s")]
#[case("--body-timeout", "soon")]
#[case("--drain-timeout", "-1s")]
#[case("--shutdown-pause", "x")]
#[case("--header-timeout", "9999999999999999999years")]
#[case("--goal-cache", "0")]
#[case("--cors-origin", "example.org")]
#[case("--cors-origin", "https://example.org/path")]
#[case("--log-format", "xml")]
#[case("--log", "loud=please")]
#[case("--unknown", "x")]
fn a_bad_value_stops_the_start_with_a_clear_message(#[case] option: &str, #[case] value: &str) {
    let run = run(&[&format!("{option}={value}")], "");
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    let message = text(&run.stderr);
    assert!(
        message.starts_with("error: ") && message.contains(option),
        "{message}"
    );
}

#[rstest]
#[case::upper_case("HTTPS://A.example", "https://a.example")]
#[case::default_port("https://a.example:443", "https://a.example")]
#[case::default_port_of_http("http://a.example:80", "http://a.example")]
#[case::zeros_in_the_port("http://a.example:08080", "http://a.example:8080")]
#[case::user("https://user:secret@a.example:8443", "https://a.example:8443")]
#[case::path("https://a.example/path", "https://a.example")]
#[case::slash("http://[::1]:3000/", "http://[::1]:3000")]
fn an_origin_that_no_browser_sends_is_refused(#[case] origin: &str, #[case] instead: &str) {
    let origins = format!("https://b.example,{origin}");
    // It cannot listen there, so that it ends even where it takes the value.
    let run = run(&["--listen", "192.0.2.1:1", "--cors-origin", &origins], "");
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    let expected =
        format!("expected an origin as browsers send it, found {origin}; write {instead}\n");
    assert!(text(&run.stderr).contains(&expected), "{run:?}");
}

#[test]
fn an_origin_with_a_wildcard_is_refused() {
    let nowhere = ["--listen", "192.0.2.1:1"];
    let run = run(
        &[&nowhere[..], &["--cors-origin", "https://*.example"]].concat(),
        "",
    );
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    let expected = "expected an origin without a wildcard, found https://*.example; list every origin, \
                    or write * alone for all\n";
    assert!(text(&run.stderr).contains(expected), "{run:?}");
}

/// The last full stop of a help text is dropped, even where it is a sign of a pattern.
#[rstest]
fn help_names_every_sign_of_a_pattern(#[values("solve", "replay")] command: &str) {
    let help = run(&[command, "--help"], "").stdout;
    let words: Vec<&str> = text(&help).split_whitespace().collect();
    assert!(words.join(" ").contains("each 1, 2, 3 or . for any"));
}
