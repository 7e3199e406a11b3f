//! What the README shows is what happens.

use std::process::Command;

use crate::running::Server;
use crate::support::{program, text};

/// The commands of the README with this in them, and what it shows them to print.
fn examples(part: &str) -> Vec<(String, String)> {
    let readme = include_str!("../../README.md");
    let mut examples = Vec::new();
    let mut lines = readme.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("    $ ") else {
            continue;
        };
        let mut command = command.to_owned();
        while command.ends_with(['\\', '|']) {
            command = format!(
                "{} {}",
                command.trim_end_matches('\\'),
                lines.next().unwrap().trim_start()
            );
        }
        if !command.contains(part) {
            continue;
        }
        let mut output = String::new();
        while let Some(line) =
            lines.next_if(|line| line.starts_with("    ") && !line.starts_with("    $ "))
        {
            output += &line[4..];
            output.push('\n');
        }
        examples.push((command, output));
    }
    examples
}

fn shell(command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    let mut printed = text(&output.stdout).to_owned();
    if !printed.ends_with('\n') {
        printed.push('\n');
    }
    printed
}

#[test]
fn the_curl_examples_give_what_is_shown() {
    let server = Server::start(&[]);
    let examples = examples("curl ");
    assert!(examples.len() >= 7, "{examples:?}");
    for (command, expected) in examples {
        let command = command.replace("localhost:8080", &server.address.to_string());
        let printed = shell(&command);
        // The id and the duration differ from request to request.
        let plain = |text: &str| {
            let mut plain = text.to_owned();
            for field in ["\"instance\":\"", "\"elapsed_us\":"] {
                if let Some(start) = plain.find(field) {
                    let start = start + field.len();
                    let length = plain[start..].find(['"', ',']).unwrap();
                    plain.replace_range(start..start + length, "");
                }
            }
            plain
        };
        assert_eq!(plain(&printed), plain(&expected), "{command}");
    }
}

#[test]
fn the_command_line_examples_give_what_is_shown() {
    let program = program().get_program().to_str().unwrap().to_owned();
    let examples = examples("echo ");
    assert!(!examples.is_empty());
    for (command, expected) in examples {
        let command = command.replace("rotation-game", &format!("'{program}'"));
        assert_eq!(shell(&command), expected, "{command}");
    }
}

/// A shell may take a `?` outside of quotes for a pattern of file names, and an `&` for an end.
#[test]
fn urls_with_a_query_are_quoted() {
    for (command, _) in examples("curl ") {
        for word in command.split(' ') {
            let is_open = word.contains('/') && word.contains(['?', '&']);
            assert!(!is_open || word.starts_with(['"', '\'']), "{command}");
        }
    }
}

/// In a list, four spaces make a paragraph of the item.
#[test]
fn examples_are_not_in_lists() {
    let readme = include_str!("../../README.md");
    let mut is_in_list = false;
    for line in readme.lines().filter(|line| !line.is_empty()) {
        if !line.starts_with("  ") {
            is_in_list = line.starts_with("- ");
        }
        assert!(!(is_in_list && line.starts_with("    ")), "{line}");
    }
}
