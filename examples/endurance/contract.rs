use std::collections::HashMap;

use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::Result;
use crate::client::{Answer, Call};

/// What openapi.yaml says of responses, ready to hold many against it.
pub(crate) struct Contract {
    /// By method and path, then by status.
    operations: HashMap<(String, String), HashMap<String, Documented>>,
    solution: Validator,
    problem: Validator,
}

/// A response as it is documented.
struct Documented {
    headers: Vec<Header>,
    /// By type.
    content: HashMap<String, Validator>,
}

struct Header {
    name: String,
    is_required: bool,
    is_integer: bool,
    schema: Validator,
}

impl Contract {
    pub(crate) fn read() -> Result<Self> {
        let document = Document(yaml_serde::from_str(include_str!("../../openapi.yaml"))?);
        let mut operations = HashMap::new();
        for (path, item) in entries(&document.0["paths"]) {
            for (method, operation) in entries(item).filter(|(name, _)| *name != "parameters") {
                let responses = entries(&operation["responses"])
                    .map(|(status, response)| Ok((status.clone(), document.response(response)?)));
                let key = (method.to_uppercase(), path.clone());
                operations.insert(key, responses.collect::<Result<_>>()?);
            }
        }
        let schema = |name| json!({"$ref": format!("#/components/schemas/{name}")});
        Ok(Self {
            operations,
            solution: document.validator(&schema("SolveResponse"))?,
            problem: document.validator(&schema("Problem"))?,
        })
    }

    /// Whether a response is documented: its status, its headers, its type and its body. What is not
    /// here at all has to be a problem.
    pub(crate) fn check(&self, call: &Call, answer: &Answer) -> Result<()> {
        let method = match call.method {
            Method::HEAD => Method::GET,
            ref method => method.clone(),
        };
        let key = (method.to_string(), call.route.to_owned());
        let Some(operation) = self.operations.get(&key) else {
            // Pages for people are not documented.
            if answer.status.is_success() || answer.status == StatusCode::NOT_MODIFIED {
                return Ok(());
            }
            let problem = serde_json::from_slice(&answer.body)?;
            return validate(&self.problem, &problem, "the body");
        };
        let documented = operation
            .get(answer.status.as_str())
            .ok_or("the status is not documented")?;
        for header in &documented.headers {
            header.check(answer)?;
        }
        let content_type = answer.header(CONTENT_TYPE);
        let essence = content_type.split(';').next().unwrap_or_default();
        let schema = documented.content.get(essence);
        if call.method == Method::HEAD || documented.content.is_empty() {
            let is_empty = answer.body.is_empty();
            return if is_empty {
                Ok(())
            } else {
                Err("there is a body".into())
            };
        }
        let schema = schema.ok_or_else(|| format!("{content_type} is not documented"))?;
        let body = match essence {
            "application/json" | "application/problem+json" => {
                serde_json::from_slice(&answer.body)?
            }
            "application/yaml" => yaml_serde::from_slice(&answer.body)?,
            _ => std::str::from_utf8(&answer.body)?.into(),
        };
        validate(schema, &body, "the body")
    }

    /// Whether a line of a batch's answers is a solution or a problem.
    pub(crate) fn check_line(&self, line: &Value) -> Result<()> {
        let is_problem = line["code"].is_string();
        let schema = if is_problem {
            &self.problem
        } else {
            &self.solution
        };
        validate(schema, line, "the line")
    }
}

impl Header {
    fn check(&self, answer: &Answer) -> Result<()> {
        let Some(value) = answer.headers.get(&self.name) else {
            let is_missing = self.is_required;
            return if is_missing {
                Err(format!("there is no {}", self.name).into())
            } else {
                Ok(())
            };
        };
        let text = value.to_str()?;
        let value = if self.is_integer {
            text.parse::<u64>()?.into()
        } else {
            text.into()
        };
        validate(&self.schema, &value, &self.name)
    }
}

/// openapi.yaml.
struct Document(Value);

impl Document {
    fn response(&self, response: &Value) -> Result<Documented> {
        let response = self.resolved(response)?;
        let headers = entries(&response["headers"]).map(|(name, header)| {
            let header = self.resolved(header)?;
            Ok(Header {
                name: name.clone(),
                is_required: header["required"] == true,
                is_integer: header["schema"]["type"] == "integer",
                schema: self.validator(&header["schema"])?,
            })
        });
        let content = entries(&response["content"])
            .map(|(name, media)| Ok((name.clone(), self.validator(&media["schema"])?)));
        Ok(Documented {
            headers: headers.collect::<Result<_>>()?,
            content: content.collect::<Result<_>>()?,
        })
    }

    fn resolved<'a>(&'a self, value: &'a Value) -> Result<&'a Value> {
        let Some(reference) = value["$ref"].as_str() else {
            return Ok(value);
        };
        let found = self.0.pointer(reference.trim_start_matches('#'));
        found.ok_or_else(|| format!("{reference} leads nowhere").into())
    }

    fn validator(&self, schema: &Value) -> Result<Validator> {
        let schema = json!({"allOf": [schema], "components": self.0["components"]});
        Ok(jsonschema::draft202012::new(&schema)?)
    }
}

fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

fn validate(schema: &Validator, value: &Value, what: &str) -> Result<()> {
    schema
        .validate(value)
        .map_err(|error| format!("{what}: {error}").into())
}
