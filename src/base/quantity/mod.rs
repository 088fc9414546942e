//! Give me written numbers, units and dates, I give you values that can be compared: digits of all scripts, number
//! words, separators as a language has them.

mod amount;
mod dates;
mod number_words;
mod units;

pub use amount::{Amount, DecimalMark, digit_value, read_number};
pub use dates::{CalendarDate, month_of, numeric_date};
pub use number_words::{number_in_words, ordinal_of, scale_of};
pub use units::{Measure, unit_of, unit_of_sign};
