//! What docs/operations.md, the alerts and the dashboard say of the server is so.

use std::collections::{BTreeMap, BTreeSet};

use rotation_game::PatternDatabase;
use rotation_game::analysis::{Sampler, Samplers};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::running::{Connection, HARDEST, Server, free_address, metrics};
use crate::support::{run, text};

pub(crate) const OPERATIONS: &str = include_str!("../../docs/operations.md");
const ALERTS: &str = include_str!("../../deploy/prometheus/alerts.yaml");
const DASHBOARD: &str = include_str!("../../deploy/grafana/rotation-game.json");

/// Of each option its variable, and its default.
pub(crate) type Options = BTreeMap<String, (String, String)>;

/// Returns the part of `serve --help` about each option, on one line, by flag.
pub(crate) fn help() -> BTreeMap<String, String> {
    let help = run(&["serve", "--help"], "");
    let of_option = |option: &str| {
        let option = option.split_whitespace().collect::<Vec<_>>().join(" ");
        let flag = option.split(' ').next().unwrap();
        (format!("--{flag}"), option)
    };
    let help = text(&help.stdout);
    help.split("\n      --").skip(1).map(of_option).collect()
}

/// Returns the bounds of an option that a text names as "from X to Y", if it does.
pub(crate) fn bounds(text: &str) -> Option<(String, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(4).find_map(|words| match words {
        ["from", least, "to", most] => {
            let most = most.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
            Some(((*least).to_owned(), most.to_owned()))
        }
        _ => None,
    })
}

/// The options of the server, by their flags, as `serve --help` tells them.
pub(crate) fn options() -> Options {
    let of_option = |(flag, option): (String, String)| {
        let told = |what: &str| {
            let (_, after) = option
                .split_once(&format!("[{what}"))
                .unwrap_or_else(|| panic!("{flag} has no {what}"));
            after.split(']').next().unwrap().to_owned()
        };
        let variable = told("env: ").trim_end_matches('=').to_owned();
        let default = told("default: ");
        (flag, (variable, default))
    };
    help().into_iter().map(of_option).collect()
}

/// The cells of all rows of tables whose first cell begins with this.
fn rows(first: &str) -> impl Iterator<Item = Vec<&'static str>> {
    OPERATIONS
        .lines()
        .filter(move |line| line.starts_with(&format!("| `{first}")))
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().trim_matches('`')).collect()
        })
}

/// Of each metric its type, and its labels.
type Metrics = BTreeMap<String, (String, BTreeSet<String>)>;

/// The metrics of a server that has done all that makes one appear, by the names that queries use.
fn served() -> Metrics {
    let address = free_address();
    let server = Server::start(&["--metrics-listen", &address]);
    assert_eq!(server.solve(&json!({"board": HARDEST})).status, 200);
    let told = metrics(&address);
    let mut found = Metrics::new();
    let mut current = (String::new(), String::new());
    for line in told.lines() {
        if let Some(of_type) = line.strip_prefix("# TYPE ") {
            let (name, kind) = of_type.split_once(' ').unwrap();
            let suffix = match kind {
                "counter" => "_total",
                "info" => "_info",
                _ => "",
            };
            current = (format!("{name}{suffix}"), kind.to_owned());
        } else if !line.starts_with('#') {
            let labels = line.split_once('{').map_or("", |(_, rest)| rest);
            let labels = labels
                .split(',')
                .filter_map(|label| Some(label.split_once('=')?.0.to_owned()))
                .filter(|label| label != "le");
            let (name, kind) = current.clone();
            let metric = found.entry(name).or_insert((kind, BTreeSet::new()));
            metric.1.extend(labels);
        }
    }
    found
}

/// Within the figures of "Sizing".
#[test]
fn what_random_boards_are_drawn_from_takes_8_mb_at_most() {
    let database = PatternDatabase::build();
    let samplers = Samplers::default();
    let allocated = allocation_counter::measure(|| {
        for distance in 0..=Sampler::GREATEST_DISTANCE {
            samplers.at_distance(&database, distance).unwrap();
        }
    });
    let bytes = allocated.bytes_current;
    assert!((1_000_000..8_000_000).contains(&bytes), "{bytes}");
}

/// Whatever looks like the name of a metric.
fn names(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| word.starts_with("rotation_game_") || word.starts_with("process_"))
        .collect()
}

#[test]
fn every_option_is_documented_with_its_variable_and_its_default() {
    let documented: Options = rows("--")
        .map(|cells| {
            let [flag, variable, default, purpose, change] = cells[..] else {
                panic!("{cells:?}");
            };
            assert!(!purpose.is_empty() && !change.is_empty(), "{cells:?}");
            (flag.to_owned(), (variable.to_owned(), default.to_owned()))
        })
        .collect();
    assert_eq!(documented, options());
}

#[test]
fn every_metric_is_documented_with_its_type_and_its_labels() {
    let documented: Metrics = ["rotation_game_", "process_"]
        .into_iter()
        .flat_map(rows)
        .map(|cells| {
            let [name, kind, labels, meaning, look] = cells[..] else {
                panic!("{cells:?}");
            };
            assert!(!meaning.is_empty() && !look.is_empty(), "{cells:?}");
            let labels = labels.split(',').map(|label| label.trim().to_owned());
            let labels = labels.filter(|label| !label.is_empty()).collect();
            (name.to_owned(), (kind.to_owned(), labels))
        })
        .collect();
    assert_eq!(documented, served());
}

#[test]
fn alerts_dashboard_and_documentation_name_no_metric_that_is_not_served() {
    let mut samples = BTreeSet::new();
    for (name, (kind, _)) in served() {
        if kind == "histogram" {
            samples.extend(["bucket", "sum", "count"].map(|suffix| format!("{name}_{suffix}")));
        } else {
            samples.insert(name);
        }
    }
    for queries in [ALERTS, DASHBOARD] {
        let names = names(queries);
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            assert!(samples.contains(name), "{name} is not served");
        }
    }
    for name in names(OPERATIONS) {
        let is_served = samples.iter().any(|sample| {
            sample == name
                || sample
                    .strip_suffix("_bucket")
                    .is_some_and(|base| base == name)
        });
        assert!(is_served, "{name} is not served");
    }
}

#[test]
fn every_alert_says_what_is_wrong_and_is_documented() {
    let alerts: Value = yaml_serde::from_str(ALERTS).unwrap();
    let alerts = alerts["groups"][0]["rules"].as_array().unwrap();
    let alerts: BTreeSet<(&str, &str)> = alerts
        .iter()
        .map(|alert| {
            for annotation in ["summary", "description"] {
                assert!(alert["annotations"][annotation].is_string(), "{alert}");
            }
            let severity = alert["labels"]["severity"].as_str().unwrap();
            assert!(["critical", "warning"].contains(&severity), "{alert}");
            (alert["alert"].as_str().unwrap(), severity)
        })
        .collect();
    let documented = rows("RotationGame").map(|cells| (cells[0], cells[1]));
    assert_eq!(documented.collect::<BTreeSet<_>>(), alerts);
}

#[test]
fn the_panels_of_the_dashboard_do_not_overlap_and_say_what_they_show() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        assert!(panel["title"].is_string(), "{panel}");
        let at = |name| panel["gridPos"][name].as_u64().unwrap();
        assert!(at("x") + at("w") <= 24, "{panel}");
        for x in at("x")..at("x") + at("w") {
            for y in at("y")..at("y") + at("h") {
                assert!(taken.insert((x, y)), "{panel}");
            }
        }
        if panel["type"] != "row" {
            let targets = panel["targets"].as_array().unwrap();
            assert!(!targets.is_empty(), "{panel}");
            for target in targets {
                let query = target["expr"].as_str().unwrap();
                assert!(query.contains("job=\"$job\""), "of any job: {query}");
            }
        }
    }
}

/// The names of all fields of an object, and of the objects in it.
fn fields(object: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (name, value) in object.as_object().unwrap() {
        names.insert(name.clone());
        if value.is_object() {
            names.extend(fields(value).iter().map(|inner| format!("{name}.{inner}")));
        }
    }
    names
}

#[test]
fn the_access_line_that_is_shown_is_as_a_real_one() {
    let shown = OPERATIONS
        .lines()
        .find(|line| line.contains("{\"timestamp\"") && line.contains("\"target\":\"access\""));
    let shown: Value = serde_json::from_str(shown.unwrap()).unwrap();

    let server = Server::start(&["--log-format", "json"]);
    let mut connection: Connection = server.connect();
    let board = "{\"board\":\"111132323132231222312133\"}";
    connection.send(&format!(
        "POST /solve HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n\
         x-request-id: {}\r\ntraceparent: 00-{}-{}-01\r\ncontent-length: {}\r\n\r\n{board}",
        shown["span"]["request_id"].as_str().unwrap(),
        shown["span"]["trace_id"].as_str().unwrap(),
        shown["span"]["parent_id"].as_str().unwrap(),
        board.len()
    ));
    assert_eq!(connection.response().unwrap().status, 200);
    server.signal(Signal::TERM);
    let log = server.end().1;
    let real = log.lines().find(|line| line.contains("/solve")).unwrap();
    let mut real: Value = serde_json::from_str(real).unwrap();
    assert_eq!(fields(&shown), fields(&real));
    for field in ["timestamp", "duration_us"] {
        real[field] = shown[field].clone();
    }
    assert_eq!(shown, real);
}
