//! The files in deploy/ fit the server, and each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rotation_game::http::paths;
use serde_json::{Value, json};

use crate::operations::options;

/// What comes after the drain: the last answers and the last lines, half a second each, and then some.
const LAST_WORDS: Duration = Duration::from_secs(2);

fn read(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("deploy")
        .join(path);
    yaml_serde::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn deployment() -> Value {
    read("kubernetes/deployment.yaml")["spec"].clone()
}

fn container() -> Value {
    deployment()["template"]["spec"]["containers"][0].clone()
}

fn service() -> Value {
    read("compose.yaml")["services"]["rotation-game"].clone()
}

/// The environment of the container in Kubernetes, and that of the one in Compose.
fn environments() -> [Vec<(String, String)>; 2] {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let kubernetes = container()["env"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variable| (text(&variable["name"]), text(&variable["value"])))
        .collect();
    let compose = service()["environment"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), text(value)))
        .collect();
    [kubernetes, compose]
}

/// The time that an option is set to, or its default.
fn time(environment: &[(String, String)], flag: &str) -> Duration {
    let (variable, default) = &options()[flag];
    let set = environment.iter().find(|(name, _)| name == variable);
    let value = set.map_or(default, |(_, value)| value);
    humantime::parse_duration(value).unwrap()
}

#[test]
fn every_variable_that_is_set_is_one_of_the_server() {
    let known: BTreeSet<String> = options()
        .into_values()
        .map(|(variable, _)| variable)
        .collect();
    for (name, _) in environments().into_iter().flatten() {
        assert!(known.contains(&name), "{name}");
    }
}

#[test]
fn who_stops_the_server_waits_for_the_pause_and_the_drain() {
    let [kubernetes, compose] = environments();
    let end = |environment: &[_]| {
        time(environment, "--shutdown-pause") + time(environment, "--drain-timeout") + LAST_WORDS
    };
    let grace = deployment()["template"]["spec"]["terminationGracePeriodSeconds"].clone();
    assert!(Duration::from_secs(grace.as_u64().unwrap()) >= end(&kubernetes));
    let grace = service()["stop_grace_period"].clone();
    assert!(humantime::parse_duration(grace.as_str().unwrap()).unwrap() >= end(&compose));

    let pause = time(&kubernetes, "--shutdown-pause");
    assert!(
        pause > time(&kubernetes, "--header-timeout"),
        "a connection may be idle when the drain begins"
    );
}

#[test]
fn probes_ask_for_what_there_is() {
    let container = container();
    let port = |name: &Value| {
        let ports = container["ports"].as_array().unwrap();
        let port = ports.iter().find(|port| port["name"] == *name);
        port.unwrap()["containerPort"].clone()
    };
    for (probe, expected, at) in [
        ("startupProbe", "/readyz", 8080),
        ("readinessProbe", "/readyz", 8080),
        ("livenessProbe", "/livez", 9464),
    ] {
        let asked = &container[probe]["httpGet"];
        assert_eq!(asked["path"], expected);
        assert_eq!(port(&asked["port"]), at);
        assert!(paths().any(|path| path == expected));
    }
    let health = service()["healthcheck"]["test"].clone();
    assert_eq!(health, json!(["CMD", "/rotation-game", "healthcheck"]));
}

#[test]
fn nothing_runs_with_more_rights_than_it_needs() {
    let pod = deployment()["template"]["spec"].clone();
    assert_eq!(pod["automountServiceAccountToken"], false);
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(
        pod["securityContext"]["seccompProfile"]["type"],
        "RuntimeDefault"
    );
    assert_eq!(
        container()["securityContext"],
        json!({
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        })
    );
    let service = service();
    assert_eq!(service["read_only"], true);
    assert_eq!(service["cap_drop"], json!(["ALL"]));
    assert_eq!(service["security_opt"], json!(["no-new-privileges:true"]));
    assert_eq!(
        service["ports"],
        json!(["8080:8080", "127.0.0.1:9464:9464"]),
        "metrics are for the machine itself"
    );
    for limit in ["cpus", "mem_limit", "pids_limit"] {
        assert!(!service[limit].is_null(), "{limit}");
    }
    for limit in ["cpu", "memory"] {
        assert!(
            container()["resources"]["limits"][limit].is_string(),
            "{limit}"
        );
    }
}

#[test]
fn the_parts_of_the_kubernetes_deployment_find_each_other() {
    let labels = json!({"app.kubernetes.io/name": "rotation-game"});
    let deployment = deployment();
    assert_eq!(deployment["selector"]["matchLabels"], labels);
    assert_eq!(deployment["template"]["metadata"]["labels"], labels);
    for constraint in deployment["template"]["spec"]["topologySpreadConstraints"]
        .as_array()
        .unwrap()
    {
        assert_eq!(constraint["labelSelector"]["matchLabels"], labels);
    }
    let service = &read("kubernetes/service.yaml")["spec"];
    assert_eq!(service["selector"], labels);
    assert_eq!(service["ports"][0]["targetPort"], "http");
    let budget = &read("kubernetes/disruption-budget.yaml")["spec"];
    assert_eq!(budget["selector"]["matchLabels"], labels);
    let policy = &read("kubernetes/network-policy.yaml")["spec"];
    assert_eq!(policy["podSelector"]["matchLabels"], labels);
    assert_eq!(
        policy["ingress"][0],
        json!({"ports": [{"port": "http"}]}),
        "metrics are not for all"
    );
    assert_eq!(policy["ingress"][1]["ports"], json!([{"port": "metrics"}]));
    let scaled = &read("kubernetes/autoscaler.yaml")["spec"]["scaleTargetRef"];
    assert_eq!(
        *scaled,
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "rotation-game"})
    );

    let scrape = read("prometheus/prometheus.yaml")["scrape_configs"][0].clone();
    assert_eq!(scrape["job_name"], "rotation-game");
    let namespace = &read("kubernetes/namespace.yaml")["metadata"]["name"];
    assert_eq!(
        scrape["kubernetes_sd_configs"][0]["namespaces"]["names"],
        json!([namespace])
    );
    let kept = |source: &str| {
        let rules = scrape["relabel_configs"].as_array().unwrap().iter();
        let mut rules = rules.filter(|rule| rule["source_labels"] == json!([source]));
        rules.next().unwrap()["regex"].clone()
    };
    assert_eq!(
        kept("__meta_kubernetes_pod_label_app_kubernetes_io_name"),
        labels["app.kubernetes.io/name"]
    );
    assert_eq!(kept("__meta_kubernetes_pod_container_port_name"), "metrics");
}

#[test]
fn the_kustomization_names_every_file_and_the_version_of_this_program() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/kubernetes");
    let files: BTreeSet<String> = fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "kustomization.yaml")
        .collect();
    let kustomization = read("kubernetes/kustomization.yaml");
    let named = kustomization["resources"].as_array().unwrap().iter();
    let named: BTreeSet<String> = named
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(named, files);
    assert_eq!(
        kustomization["namespace"],
        read("kubernetes/namespace.yaml")["metadata"]["name"]
    );
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        kustomization["images"],
        json!([{"name": container()["image"], "newTag": version}])
    );
    assert_eq!(service()["image"], format!("rotation-game:{version}"));
}
