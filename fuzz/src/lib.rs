//! What holds for every input, for inputs that fuzzing makes up.

#![forbid(unsafe_code)]

#[path = "../../tests/suite/properties/mod.rs"]
mod properties;

macro_rules! targets {
    ($($target:ident)*) => {
        $(pub fn $target(input: &[u8]) {
            properties::$target::check(input);
        })*
    };
}

targets!(batch boards judge patterns replay requests solve);
