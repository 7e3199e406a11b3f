//! JSON as the API document has it, where serde by itself is more lenient or speaks of Rust.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use crate::puzzle::{Board, CELLS, Draft, IllegalBoard};

/// An object, and not an array of its fields.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

/// An object, or a board without one around it.
pub(super) enum ObjectOrBoard<T> {
    Object(T),
    Board(Notation),
}

/// Reads either.
pub(super) fn object_or_board<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<ObjectOrBoard<T>, D::Error> {
    struct EitherVisitor<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for EitherVisitor<T> {
        type Value = ObjectOrBoard<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object, a string or an array")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(ObjectOrBoard::Object)
        }

        fn visit_str<E: Error>(self, digits: &str) -> Result<Self::Value, E> {
            NotationVisitor.visit_str(digits).map(ObjectOrBoard::Board)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
            NotationVisitor.visit_seq(seq).map(ObjectOrBoard::Board)
        }
    }

    deserializer.deserialize_any(EitherVisitor(PhantomData))
}

/// Reads one of a few names, as a string and nothing else; null means the default.
pub(super) fn name<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct NameVisitor<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for NameVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
            T::deserialize(name.into_deserializer())
        }

        fn visit_unit<E>(self) -> Result<T, E> {
            Ok(T::default())
        }
    }

    deserializer.deserialize_any(NameVisitor(PhantomData))
}

/// Any integer that JSON can write, `13.0` too; those beyond the range of this type are as good as
/// its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Integer(pub(super) i128);

/// Prints the number as it was sent, unless reading it has rounded it.
impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&self.0) {
            self.0.fmt(f)
        } else {
            f.write_str("a number beyond 64 bits")
        }
    }
}

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IntegerVisitor;

        impl Visitor<'_> for IntegerVisitor {
            type Value = Integer;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Integer, E> {
                Ok(Integer(number.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Integer, E> {
                Ok(Integer(number.into()))
            }

            #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
            fn visit_f64<E: Error>(self, number: f64) -> Result<Integer, E> {
                if number.fract() == 0.0 {
                    Ok(Integer(number as i128))
                } else {
                    Err(E::invalid_type(serde::de::Unexpected::Float(number), &self))
                }
            }
        }

        deserializer.deserialize_any(IntegerVisitor)
    }
}

/// A board as it is written in JSON, legal or not.
#[derive(Debug)]
pub(super) struct Notation(pub(super) Result<Board, IllegalBoard>);

struct NotationVisitor;

impl<'de> Visitor<'de> for NotationVisitor {
    type Value = Notation;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a string of {CELLS} digits or an array of {CELLS} integers"
        )
    }

    fn visit_str<E>(self, digits: &str) -> Result<Notation, E> {
        Ok(Notation(digits.parse()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Notation, A::Error> {
        let mut draft = Draft::default();
        while let Some(number) = seq.next_element::<Integer>()? {
            match i64::try_from(number.0) {
                Ok(number) => draft.push_number(number),
                Err(_) => draft.push_fault(number.to_string()),
            }
        }
        Ok(Notation(draft.finish()))
    }
}

impl<'de> Deserialize<'de> for Notation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NotationVisitor)
    }
}
