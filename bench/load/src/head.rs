//! Checks the head of a block that each subscriber receives: the same bytes, except for the id of the subscription.

/// Compares the messages of a block with each other.
#[derive(Default)]
pub struct Heads {
    /// The first message of this block.
    model: Option<Head>,
    /// The hash of the previous block.
    previous: Vec<u8>,
}

/// A message without the id of the subscription.
struct Head {
    before: Vec<u8>,
    after: Vec<u8>,
    hash: Vec<u8>,
}

impl Heads {
    /// Expects messages of another block from now on.
    pub fn next_block(&mut self) {
        if let Some(model) = self.model.take() {
            self.previous = model.hash;
        }
    }

    /// Returns the fault of a message to the subscription `id` (with quotation marks), `None` if it is right.
    pub fn fault(&mut self, message: &[u8], id: &[u8]) -> Option<String> {
        let reason = match &self.model {
            Some(model) => model.fault(message, id),
            None => match Head::read(message, id) {
                Ok(head) if head.hash == self.previous => Err("the head of the previous block"),
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
        let rest = message.strip_prefix(&self.before[..]).ok_or("a message that differs from the others")?;
        let rest = rest.strip_prefix(id).ok_or("a message for another subscription")?;
        if rest == self.after { Ok(()) } else { Err("a message that differs from the others") }
    }
}

/// Returns the id of the subscription in the answer to `eth_subscribe`, with quotation marks.
pub fn granted(answer: &[u8]) -> Result<Vec<u8>, String> {
    let id = value(answer, b"\"result\":").and_then(|at| text(&answer[at..]));
    id.map(<[u8]>::to_vec).ok_or_else(|| described("no subscription", answer))
}

/// Appends the received message to a reason.
pub fn described(reason: &str, message: &[u8]) -> String {
    format!("{reason}: {}", String::from_utf8_lossy(&message[..message.len().min(200)]))
}

/// Returns the start of the value of the first member with this name.
fn value(json: &[u8], name: &[u8]) -> Option<usize> {
    let end = json.windows(name.len()).position(|part| part == name)? + name.len();
    Some(end + json[end..].iter().take_while(|&&byte| byte == b' ').count())
}

/// Returns the string at the start, with quotation marks.
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
    fn accepts_equal_messages_with_ids_of_any_length() {
        let mut heads = Heads::default();
        for (hash, number) in [('a', 1), ('b', 2), ('a', 1)] {
            for id in ["\"0x10\"", "\"0x1\"", "\"0x123\"", "\"0x10\""] {
                assert_eq!(heads.fault(&message(id, hash, number), id.as_bytes()), None);
            }
            heads.next_block();
        }
    }

    #[test]
    fn rejects_a_message_for_another_subscription() {
        let mut heads = Heads::default();
        assert!(fault(&mut heads, &message("\"0x2\"", 'a', 1), "\"0x1\"").starts_with("a message for another"));
        // A wrong message is not compared with later ones.
        assert_eq!(heads.fault(&message("\"0x1\"", 'a', 1), b"\"0x1\""), None);
        assert!(fault(&mut heads, &message("\"0x2\"", 'a', 1), "\"0x1\"").starts_with("a message for another"));
        assert!(fault(&mut heads, &message("\"0x10\"", 'a', 1), "\"0x1\"").starts_with("a message for another"));
    }

    #[test]
    fn rejects_any_changed_byte() {
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
    fn rejects_the_hash_of_the_previous_block() {
        let mut heads = Heads::default();
        let id = "\"0x1\"";
        assert_eq!(heads.fault(&message(id, 'a', 1), id.as_bytes()), None);
        heads.next_block();
        // Without messages for a block, the previous hash stays.
        heads.next_block();
        assert!(fault(&mut heads, &message(id, 'a', 1), id).starts_with("the head of the previous block"));
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
