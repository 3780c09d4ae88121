//! Values of request objects as the client sent them: calls, overrides, filters, simulations, trace options.
//!
//! Messages repeat those of the reference, hints name the member and the expected value. Faults of form take precedence
//! over late faults: values that the reference reads and then cannot use, and values that only this node rejects.

use crate::error::RpcError;
use rhizome_primitives::{Address, B256, Bytes, U256, hex};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Maximum length of a quoted value and of a number, in characters.
const MAX_TEXT: usize = 66;
/// Largest integer that every JSON number holds exactly: 2^53 - 1.
pub(crate) const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

const ADDRESS: &str = "20 bytes, 0x and 40 hex digits";
const BYTES: &str = "bytes, 0x and an even number of hex digits";
const HASH: &str = "32 bytes, 0x and 64 hex digits";
const NUMBER: &str = "a number, 0x and hex digits, or decimal";
const BLOCK: &str = "latest, earliest, pending, safe, finalized, a block number (0x and hex digits)";

/// Precedence of a fault among several of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultClass {
    /// The form is wrong: reported first.
    Form,
    /// The reference reads the value and then cannot use it: reported after faults of form, the last one.
    InUse,
    /// The reference accepts the value: reported last, the first one.
    OnlyHere,
}

/// A value that is rejected.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) class: FaultClass,
    pub(crate) message: String,
    /// Location of the fault and expected value.
    pub(crate) hint: Option<String>,
}

impl From<Fault> for RpcError {
    fn from(Fault { message, hint, .. }: Fault) -> Self {
        let error = RpcError::invalid_params(message);
        hint.into_iter().fold(error, RpcError::with_hint)
    }
}

/// Location of a value: a parameter and one of its members.
#[derive(Clone, Copy)]
pub(crate) struct Location<'a> {
    pub(crate) owner: &'a str,
    pub(crate) member: &'a str,
}

impl Location<'_> {
    pub(crate) fn fault(self, class: FaultClass, message: impl Into<String>, expected: &str) -> Fault {
        let hint = Some(format!("{}.{}: expected {expected}", self.owner, self.member));
        Fault { class, message: message.into(), hint }
    }

    fn form(self, message: impl Into<String>, expected: &str) -> Fault {
        self.fault(FaultClass::Form, message, expected)
    }
}

/// A JSON value. Lists and objects are only distinguished.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sent<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
    List,
    Object,
}

impl<'a> From<&'a RawValue> for Sent<'a> {
    fn from(json: &'a RawValue) -> Self {
        let json = json.get();
        match json.as_bytes().first() {
            Some(b'"') => Self::Text(match json.get(1..json.len() - 1) {
                Some(text) if !text.contains('\\') => Cow::Borrowed(text),
                // A lone surrogate has no UTF-8 form.
                _ => Cow::Owned(
                    serde_json::from_str(json).unwrap_or_else(|_surrogate| char::REPLACEMENT_CHARACTER.into()),
                ),
            }),
            Some(b'{') => Self::Object,
            Some(b'[') => Self::List,
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number(json.parse().unwrap_or(f64::NAN)),
        }
    }
}

impl<'a> From<&'a Value> for Sent<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(is_true) => Self::Bool(*is_true),
            Value::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => Self::Text(Cow::Borrowed(text)),
            Value::Array(_) => Self::List,
            Value::Object(_) => Self::Object,
        }
    }
}

impl Sent<'_> {
    /// Returns the value as messages quote it: text unchanged, other values by their first JSON token.
    pub(crate) fn quoted(&self) -> Cow<'_, str> {
        match self {
            Self::Null => "null".into(),
            Self::Bool(true) => "true".into(),
            Self::Bool(false) => "false".into(),
            Self::Number(number) => quoted_number(*number).into(),
            Self::Text(text) => Cow::Borrowed(text),
            Self::List => "[".into(),
            Self::Object => "{".into(),
        }
    }

    /// Returns the value as the reference reads a text: lists and objects are empty.
    pub(crate) fn as_text(&self) -> Cow<'_, str> {
        match self {
            Self::List | Self::Object => "".into(),
            other => other.quoted(),
        }
    }
}

/// Writes a number like JavaScript, with an exponent in the form of Java.
fn quoted_number(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    if number.abs() >= 1e-6 && number.abs() < 1e21 {
        return number.to_string();
    }
    let text = format!("{number:E}");
    match text.split_once('E') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0E{exponent}"),
        _ => text,
    }
}

/// Shortens a text for a message.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// Members of an object in the order in which they were sent.
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads the JSON text of an object. `None` for other values.
    pub(crate) fn parse(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Returns the last member of a name, like JavaScript. `None` if it is absent.
    pub(crate) fn get(&self, name: &str) -> Option<Sent<'a>> {
        self.0.iter().rev().find(|(other, _)| other == name).map(|(_, json)| Sent::from(*json))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

/// Name of a member, borrowed unless it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::with_capacity(4);
        while let Some((Name(name), json)) = map.next_entry()? {
            members.push((name, json));
        }
        Ok(Members(members))
    }
}

/// Reads an address. The prefix may be absent.
pub(crate) fn address(sent: &Sent<'_>, at: Location<'_>) -> Result<Address, Fault> {
    let text = match sent {
        Sent::Text(text) => text.as_ref(),
        _ => "",
    };
    if let Some(bytes) = exact_hex(text) {
        return Ok(Address::new(bytes));
    }
    let malformed = "Invalid address format: invalid hex value.";
    // The reference pads a missing digit.
    if text.len() == 41 && text.strip_prefix("0x").is_some_and(is_hex) {
        return Err(at.fault(FaultClass::OnlyHere, malformed, ADDRESS));
    }
    let has_length = (40..=42).contains(&text.chars().count());
    Err(at.form(if has_length { malformed } else { "Invalid address: null, empty or invalid hex value." }, ADDRESS))
}

/// Reads a hash. `noun` is `block hash` or `topic` and goes into the message.
pub(crate) fn hash(text: &str, noun: &str, at: Location<'_>) -> Result<B256, Fault> {
    if let Some(bytes) = exact_hex(text) {
        return Ok(B256::new(bytes));
    }
    let wrong_length = format!("Invalid {noun}: incorrect length.");
    // The reference pads a missing digit.
    if text.len() == 65 && text.strip_prefix("0x").is_some_and(is_hex) {
        return Err(at.fault(FaultClass::OnlyHere, wrong_length, HASH));
    }
    // Digits are checked only if their number is about right.
    let has_about_length = (64..=66).contains(&text.chars().count());
    if has_about_length && !is_hex(text.strip_prefix("0x").unwrap_or(text)) {
        return Err(at.form(format!("Invalid {noun} format: invalid hex value"), HASH));
    }
    Err(at.form(wrong_length, HASH))
}

/// Reads bytes. The prefix may be absent; an odd number of digits is rejected, because padding would guess the missing digit.
pub(crate) fn bytes(sent: &Sent<'_>, at: Location<'_>) -> Result<Bytes, Fault> {
    if let Sent::Text(text) = sent {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        // The decoder would skip a second prefix.
        if !digits.starts_with("0x")
            && let Ok(bytes) = hex::decode(digits)
        {
            return Ok(bytes.into());
        }
    }
    let text = sent.as_text();
    // The reference pads an odd digit and treats numbers as text.
    let is_taken = *sent != Sent::Null && is_hex(text.strip_prefix("0x").unwrap_or(&text));
    let class = if is_taken { FaultClass::OnlyHere } else { FaultClass::Form };
    Err(at.fault(class, "Invalid data format: invalid hex value.", BYTES))
}

/// Reads a number of at most 256 bits: 0x hex (`0x` alone is 0), decimal text or a JSON integer.
pub(crate) fn number(sent: &Sent<'_>, at: Location<'_>) -> Result<U256, Fault> {
    match sent {
        Sent::Null => return Err(at.form("Invalid param: null", NUMBER)),
        Sent::Number(number) if number.fract() == 0.0 && (0.0..=MAX_SAFE_INTEGER).contains(number) => {
            return Ok(U256::from(*number as u64));
        }
        Sent::Text(text) => {
            if let Some(number) = text.strip_prefix("0x").and_then(hex_number) {
                return Ok(number);
            }
        }
        _ => {}
    }
    let text = sent.quoted();
    if text.chars().count() > MAX_TEXT {
        return Err(at.form(format!("Invalid param: {}", shortened(&text)), NUMBER));
    }
    let is_decimal = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if matches!(sent, Sent::Text(_)) && is_decimal(&text) {
        // 66 decimal digits have 220 bits.
        return U256::from_str_radix(&text, 10).map_err(|_overflow| invalid_number(&text, FaultClass::Form, at));
    }
    if is_hex(&text) {
        let message = "Number values should not contain letters or hex values should start with 0x.";
        return Err(at.fault(FaultClass::InUse, message, NUMBER));
    }
    // The reference accepts signs.
    let is_signed = text.strip_prefix(['-', '+']).is_some_and(is_decimal);
    Err(invalid_number(&text, if is_signed { FaultClass::OnlyHere } else { FaultClass::Form }, at))
}

/// Like [`number`], for members where the reference reads lists and objects as empty text.
pub(crate) fn number_or_late(sent: &Sent<'_>, at: Location<'_>) -> Result<U256, Fault> {
    match sent {
        Sent::List | Sent::Object => Err(invalid_number(&sent.quoted(), FaultClass::OnlyHere, at)),
        _ => number(sent, at),
    }
}

fn invalid_number(text: &str, class: FaultClass, at: Location<'_>) -> Fault {
    at.fault(class, format!("Invalid param {text}: value must be a valid hex or string number."), NUMBER)
}

/// Reads a block id by height in its canonical form: a tag, 0x hex, or a hash.
pub(crate) fn numbered_block(text: &str, at: Location<'_>) -> Result<String, Fault> {
    let in_use = |message: String| at.fault(FaultClass::InUse, message, BLOCK);
    if matches!(text, "latest" | "earliest" | "pending" | "safe" | "finalized") {
        return Ok(text.to_owned());
    }
    if text.is_empty() {
        return Err(at.form("Invalid block identifier: empty or null.", BLOCK));
    }
    let hex_digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty() && is_hex(digits));
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    let is_tag = ["latest", "earliest", "pending", "safe", "finalized"].contains(&text.to_lowercase().as_str());
    if hex_digits.is_none() && !is_decimal && !is_tag {
        return Err(at.form(format!("Invalid block identifier '{text}'"), BLOCK));
    }
    if hex_digits.is_some_and(|digits| digits.len() == 64) {
        return Ok(text.to_owned());
    }
    if text.len() > MAX_TEXT {
        return Err(in_use(format!("invalid block identifier {}", shortened(text))));
    }
    if text.len() >= 64 && !is_tag && !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        let is_hash = text.strip_prefix("0x").unwrap_or(text).len() == 64;
        return if is_hash { Ok(text.to_owned()) } else { Err(in_use(format!("invalid block hash {text}"))) };
    }
    let Some(digits) = hex_digits else { return Err(in_use(format!("invalid blocknumber {text}"))) };
    // Block numbers end at 2^63 - 1.
    let digits = digits.trim_start_matches('0');
    if digits.len() < 16 || digits.len() == 16 && digits.starts_with(|first: char| first < '8') {
        return Ok(text.to_owned());
    }
    Err(in_use(format!("Invalid block number {text}")))
}

/// Reads an exact number of bytes, with or without `0x`.
fn exact_hex<const BYTES: usize>(text: &str) -> Option<[u8; BYTES]> {
    let digits = match text.len().checked_sub(2 * BYTES)? {
        0 if !text.starts_with("0x") => text,
        2 => text.strip_prefix("0x")?,
        _ => return None,
    };
    let mut bytes = [0; BYTES];
    (!digits.starts_with("0x") && hex::decode_to_slice(digits, &mut bytes).is_ok()).then_some(bytes)
}

fn hex_number(digits: &str) -> Option<U256> {
    match digits {
        "" => Some(U256::ZERO),
        _ if digits.len() <= 64 && is_hex(digits) => U256::from_str_radix(digits, 16).ok(),
        _ => None,
    }
}

fn is_hex(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
