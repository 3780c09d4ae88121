//! What subscribers are told of a block: each under its own subscription, and all else the same bytes.

/// Compares the messages of one block after the other.
#[derive(Default)]
pub struct Heads {
    /// The first message of this block.
    model: Option<Head>,
    /// The hash of the block before.
    former: Vec<u8>,
}

/// A message, but for the id of the subscription.
struct Head {
    before: Vec<u8>,
    after: Vec<u8>,
    hash: Vec<u8>,
}

impl Heads {
    /// The next messages are those of another block.
    pub fn go_on(&mut self) {
        if let Some(model) = self.model.take() {
            self.former = model.hash;
        }
    }

    /// What is wrong with a message to the subscription with this id, which has its quotation marks.
    pub fn fault(&mut self, message: &[u8], id: &[u8]) -> Option<String> {
        let reason = match &self.model {
            Some(model) => model.fault(message, id),
            None => match Head::read(message, id) {
                Ok(head) if head.hash == self.former => Err("the head of the block before"),
                Ok(head) => {
                    self.model = Some(head);
                    Ok(())
                }
                Err(reason) => Err(reason),
            },
        };
        reason.err().map(|reason| described(reason, message))
    }
}

impl Head {
    fn read(message: &[u8], id: &[u8]) -> Result<Self, &'static str> {
        let start = value(message, b"\"subscription\":").ok_or("a message without a subscription")?;
        if !message[start..].starts_with(id) {
            return Err("a message for another subscription");
        }
        let (before, after) = (&message[..start], &message[start + id.len()..]);
        let hash = value(message, b"\"hash\":").and_then(|at| text(&message[at..])).filter(|hash| is_hash(hash));
        let hash = hash.ok_or("a message without a hash")?;
        Ok(Self { before: before.to_vec(), after: after.to_vec(), hash: hash.to_vec() })
    }

    fn fault(&self, message: &[u8], id: &[u8]) -> Result<(), &'static str> {
        let rest = message.strip_prefix(&self.before[..]).ok_or("another message than others got")?;
        let rest = rest.strip_prefix(id).ok_or("a message for another subscription")?;
        if rest == self.after { Ok(()) } else { Err("another message than others got") }
    }
}

/// The id of a subscription in the answer that grants it, with its quotation marks.
pub fn granted(answer: &[u8]) -> Result<Vec<u8>, String> {
    let id = value(answer, b"\"result\":").and_then(|at| text(&answer[at..]));
    id.map(<[u8]>::to_vec).ok_or_else(|| described("no subscription", answer))
}

/// Adds what was got instead.
pub fn described(reason: &str, message: &[u8]) -> String {
    format!("{reason}: {}", String::from_utf8_lossy(&message[..message.len().min(200)]))
}

/// Where the value of the first member with this name begins.
fn value(json: &[u8], name: &[u8]) -> Option<usize> {
    let end = json.windows(name.len()).position(|part| part == name)? + name.len();
    Some(end + json[end..].iter().take_while(|&&byte| byte == b' ').count())
}

/// The string at the beginning, with its quotation marks.
fn text(json: &[u8]) -> Option<&[u8]> {
    let rest = json.strip_prefix(b"\"")?;
    let length = rest.iter().position(|&byte| byte == b'"')?;
    json.get(..length + 2)
}

fn is_hash(text: &[u8]) -> bool {
    text.len() == 68 && text.starts_with(b"\"0x") && text[3..67].iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, hash: char, number: u32) -> Vec<u8> {
        let hash = String::from(hash).repeat(64);
        format!(
            r#"{{"jsonrpc":"2.0","params":{{"subscription":{id},"result":{{"number":{number},"hash":"0x{hash}"}}}}}}"#
        )
        .into_bytes()
    }

    fn fault(heads: &mut Heads, message: &[u8], id: &str) -> String {
        heads.fault(message, id.as_bytes()).expect("a fault")
    }

    #[test]
    fn the_same_message_under_ids_of_any_length_is_right() {
        let mut heads = Heads::default();
        for (hash, number) in [('a', 1), ('b', 2), ('a', 1)] {
            for id in ["\"0x10\"", "\"0x1\"", "\"0x123\"", "\"0x10\""] {
                assert_eq!(heads.fault(&message(id, hash, number), id.as_bytes()), None);
            }
            heads.go_on();
        }
    }

    #[test]
    fn the_message_of_somebody_else_is_wrong() {
        let mut heads = Heads::default();
        assert!(fault(&mut heads, &message("\"0x2\"", 'a', 1), "\"0x1\"").starts_with("a message for another"));
        // The wrong one is not what others are compared with.
        assert_eq!(heads.fault(&message("\"0x1\"", 'a', 1), b"\"0x1\""), None);
        assert!(fault(&mut heads, &message("\"0x2\"", 'a', 1), "\"0x1\"").starts_with("a message for another"));
        assert!(fault(&mut heads, &message("\"0x10\"", 'a', 1), "\"0x1\"").starts_with("a message for another"));
    }

    #[test]
    fn any_other_byte_is_wrong() {
        let mut heads = Heads::default();
        let right = message("\"0x1\"", 'a', 1);
        assert_eq!(heads.fault(&right, b"\"0x1\""), None);
        for place in 0..right.len() {
            let mut other = right.clone();
            other[place] ^= 1;
            assert!(heads.fault(&other, b"\"0x1\"").is_some(), "{place}");
            assert!(heads.fault(&right[..place], b"\"0x1\"").is_some(), "{place}");
        }
        assert!(heads.fault(&[&right[..], b" "].concat(), b"\"0x1\"").is_some());
    }

    #[test]
    fn the_first_message_of_a_block_has_the_hash_of_another_block() {
        let mut heads = Heads::default();
        let id = "\"0x1\"";
        assert_eq!(heads.fault(&message(id, 'a', 1), id.as_bytes()), None);
        heads.go_on();
        // Nobody is told of a block: the one before stays the one before.
        heads.go_on();
        assert!(fault(&mut heads, &message(id, 'a', 1), id).starts_with("the head of the block before"));
        assert!(fault(&mut heads, &message(id, 'x', 1), id).starts_with("a message without a hash"));
        assert!(fault(&mut heads, br#"{"subscription":"0x1","hash":"0x12"}"#, id).starts_with("a message without a"));
        assert!(fault(&mut heads, br#"{"subscription":"0x1","hash":""#, id).starts_with("a message without a hash"));
        assert!(fault(&mut heads, b"{}", id).starts_with("a message without a subscription"));
    }

    #[test]
    fn the_id_that_an_answer_grants() {
        assert_eq!(granted(br#"{"id":1,"result": "0x1","jsonrpc":"2.0"}"#), Ok(b"\"0x1\"".to_vec()));
        for answer in [&br#"{"id":1,"error":{"code":-32601}}"#[..], br#"{"id":1,"result":null}"#, br#"{"result":"0"#] {
            assert!(granted(answer).is_err());
        }
    }
}
