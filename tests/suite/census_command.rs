//! `rotation-game census` as its users see it.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{on_terminal, run, text};

pub(crate) const BOARDS: [u64; 14] = [
    38_610,
    308_880,
    1_698_840,
    8_030_880,
    33_820_248,
    124_134_840,
    400_278_348,
    1_098_954_804,
    2_316_756_348,
    3_172_593_156,
    1_992_066_648,
    312_776_400,
    4_053_576,
    192,
];

#[test]
fn the_census_is_a_table_with_the_exact_numbers() {
    let run = run(&["census"], "");
    let table = text(&run.stdout);
    for (distance, boards) in BOARDS.into_iter().enumerate() {
        let start = [distance.to_string(), boards.to_string()];
        assert!(
            table
                .lines()
                .any(|line| line.split_whitespace().take(2).eq(&start)),
            "{start:?} is not in\n{table}"
        );
    }
    assert!(table.contains("all  9465511770"), "{table}");
    assert!(table.contains("mean distance: 8.5970"), "{table}");
    assert!(table.contains("ties: on 24.9 %"), "{table}");
    assert!(
        table.contains("33.517 %  ########################################\n"),
        "{table}"
    );
    assert_eq!(text(&run.stderr), "");
}

#[test]
fn the_census_is_told_to_programs_too() {
    let run = run(&["census", "--format", "json"], "");
    let census: Value = serde_json::from_slice(&run.stdout).unwrap();
    let boards: Vec<u64> = census["distances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["boards"].as_u64().unwrap())
        .collect();
    assert_eq!(boards, BOARDS);
    assert_eq!(census["boards"], 9_465_511_770_u64);
}

#[cfg(target_os = "linux")]
#[test]
fn the_census_shows_its_progress_on_a_terminal_and_an_interrupt_ends_it() {
    let (mut child, mut terminal) = on_terminal(&["census"]);
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains("boards") {
        let mut piece = [0; 1024];
        let length = terminal.read(&mut piece).unwrap();
        shown.extend_from_slice(&piece[..length]);
    }
    // It counts.
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()), "{status}");
}
