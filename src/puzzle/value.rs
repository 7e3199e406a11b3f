use std::fmt;

use serde::{Serialize, Serializer};

/// What a cell holds: 1, 2 or 3. A board holds each of them eight times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Value {
    /// The value 1.
    One = 1,
    /// The value 2.
    Two = 2,
    /// The value 3.
    Three = 3,
}

impl Value {
    /// The three values, in ascending order.
    pub const ALL: [Self; 3] = [Self::One, Self::Two, Self::Three];

    /// The value that `number` names, or `None` where it is not 1, 2 or 3.
    ///
    /// ```
    /// use rotation_game::Value;
    ///
    /// assert_eq!(Value::new(2), Some(Value::Two));
    /// assert_eq!(Value::new(4), None);
    /// ```
    #[must_use]
    pub const fn new(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            3 => Some(Self::Three),
            _ => None,
        }
    }

    /// The number itself, 1 to 3.
    #[must_use]
    pub const fn get(self) -> u8 {
        self as u8
    }

    /// The place of the value in [`Value::ALL`], 0 to 2.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize - 1
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// Serialized as the number.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.get())
    }
}
