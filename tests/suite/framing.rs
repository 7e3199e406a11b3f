//! The framing of HTTP/1 requests: lengths, codings and hosts that a proxy and a server may read
//! differently.

use std::io::Write;

use rstest::rstest;

use crate::scene::{BODY, LAST, SOLVE, Scene, read_to_end, statuses};

/// A proxy and a server may disagree about the end of such a message (RFC 9112, section 11.2). The
/// server answers it once at most, and takes nothing behind it for a request.
#[rstest]
#[case::length_then_chunked(&["content-length: 6", "transfer-encoding: chunked"], true, &["200"])]
#[case::chunked_then_length(&["transfer-encoding: chunked", "content-length: 6"], true, &["200"])]
#[case::two_lengths(&["content-length: 36", "content-length: 6"], false, &["400"])]
#[case::list_of_lengths(&["content-length: 36, 36"], false, &["400"])]
#[case::signed_length(&["content-length: +36"], false, &["400"])]
#[case::space_before_the_colon(&["transfer-encoding : chunked"], true, &["400"])]
#[case::not_chunked(&["transfer-encoding: identity"], true, &["400"])]
#[case::chunked_but_not_last(&["transfer-encoding: chunked, identity"], true, &["400"])]
#[case::chunked_twice(&["transfer-encoding: chunked, chunked"], true, &["400"])]
#[case::chunked_in_two_lines(&["transfer-encoding: chunked", "transfer-encoding: chunked"], true, &["400"])]
#[case::gzip(&["transfer-encoding: gzip, chunked"], true, &["400"])]
#[case::codings_in_two_lines(&["transfer-encoding: identity", "transfer-encoding: chunked"], true, &["400"])]
#[case::empty_coding(&["transfer-encoding: ,chunked"], true, &["400"])]
#[case::unknown_coding(&["transfer-encoding: xchunked"], true, &["400"])]
#[case::folded_value(&["x: 1\r\n content-length: 6", "content-length: 36"], false, &["400"])]
#[case::folded_coding(&["transfer-encoding:\r\n chunked"], true, &["400"])]
#[case::nul(&["x: a\0b", "content-length: 36"], false, &["400"])]
#[case::plain(&["content-length: 36"], false, &["200", "200"])]
#[case::plain_chunked(&["transfer-encoding: chunked"], true, &["200", "200"])]
fn ambiguous_framing_smuggles_no_request(
    #[case] headers: &[&str],
    #[case] is_chunked: bool,
    #[case] expected: &[&str],
) {
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    let body = if is_chunked {
        format!("{:x}\r\n{BODY}\r\n0\r\n\r\n", BODY.len())
    } else {
        BODY.to_owned()
    };
    let head = headers.join("\r\n");
    // All at once: after a refusal of the head, the rest could not be sent.
    let sent = format!("{SOLVE}{head}\r\n\r\n{body}{LAST}");
    stream.write_all(sent.as_bytes()).unwrap();
    let said = read_to_end(&mut stream);
    assert_eq!(statuses(&said), expected, "{said}");
    scene.end();
}

/// RFC 9112, section 3.2.
#[rstest]
#[case::none("1.1", &[], &["400"])]
#[case::two("1.1", &["host: a", "host: a"], &["400"])]
#[case::two_that_differ("1.1", &["host: a", "host: b"], &["400"])]
#[case::space("1.1", &["host: a b"], &["400"])]
#[case::user("1.1", &["host: user@a"], &["400"])]
#[case::name("1.1", &["host: a"], &["200", "200"])]
#[case::name_and_port("1.1", &["host: a:8080"], &["200", "200"])]
#[case::ipv6("1.1", &["host: [::1]:8080"], &["200", "200"])]
#[case::empty("1.1", &["host:"], &["200", "200"])]
#[case::none_over_http_1_0("1.0", &[], &["200"])]
#[case::two_over_http_1_0("1.0", &["host: a", "host: a"], &["400"])]
fn requests_need_one_valid_host(
    #[case] version: &str,
    #[case] hosts: &[&str],
    #[case] expected: &[&str],
) {
    let scene = Scene::new(&[]);
    let mut stream = scene.connect();
    let request_line = format!("GET /livez HTTP/{version}");
    let head = [&[&request_line[..]], hosts].concat();
    let request = format!("{}\r\n\r\n{LAST}", head.join("\r\n"));
    stream.write_all(request.as_bytes()).unwrap();
    let said = read_to_end(&mut stream);
    assert_eq!(statuses(&said), expected, "{said}");
    scene.end();
}
