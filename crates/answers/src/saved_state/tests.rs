use super::read::accounts;
use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const ACCOUNT: &str = r#""0x00000000000000000000000000000000000000aa":{"nonce":3,"balance":"0x10","code":"0x6001","storage":{"0x0":"0x2a"}}"#;

fn compressed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn fault(text: &str) -> String {
    accounts(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn reads_plain_and_compressed_states() {
    let text = format!(r#"{{"accounts":{{{ACCOUNT}}},"blocks":[{{"header":{{}}}}],"unknown":1}}"#);
    let plain = accounts(text.as_bytes()).unwrap();
    assert_eq!(plain, accounts(&compressed(text.as_bytes())).unwrap());
    let [account] = plain.as_slice() else { panic!("{plain:?}") };
    assert_eq!((account.nonce, account.address.0[19]), (3, 0xaa));
    assert_eq!(account.storage[&U256::ZERO], U256::from(42));
    let numbers = text.replace("3,", r#""0x3","#).replace(r#""0x10""#, "16");
    assert_eq!(accounts(numbers.as_bytes()).unwrap(), plain);
}

#[test]
fn names_the_fault_of_a_state() {
    for (text, expected) in [
        ("", "EOF"),
        ("[]", "expected struct"),
        ("{}", "missing field `accounts`"),
        (r#"{"accounts":{"0x01":{}}}"#, "expected 0x and 40 hex digits"),
        (&format!(r#"{{"accounts":{{{}}}}}"#, ACCOUNT.replace("6001", "601")), "even number of hex digits"),
        (&format!(r#"{{"accounts":{{{}}}}}"#, ACCOUNT.replace("\"0x10\"", "-1")), "a number of at most 256 bits"),
        (&format!(r#"{{"accounts":{{{}}}}}"#, ACCOUNT.replace("0x2a", "0xzz")), "a number of at most 256 bits"),
        (&format!(r#"{{"accounts":{{{}}}}}"#, ACCOUNT.replace('3', "\"0x10000000000000000\"")), "64 bits"),
        (&format!(r#"{{"accounts":{{{}}}}}"#, ACCOUNT.replace("\"nonce\":3,", "")), "missing field `nonce`"),
        (&format!(r#"{{"accounts":{{{ACCOUNT}"#), "EOF"),
    ] {
        let fault = fault(text);
        assert!(fault.contains(expected), "{text}: {fault}");
    }
    let most = format!("0x{}", "f".repeat(64));
    let rich = fault(&format!(r#"{{"accounts":{{{}}}}}"#, ACCOUNT.replace("0x10", &most)));
    assert!(rich.ends_with("the balance is 2^255 wei or more"), "{rich}");
}

#[test]
fn rejects_damaged_and_endless_compression() {
    let mut cut = compressed(format!(r#"{{"accounts":{{{ACCOUNT}}}}}"#).as_bytes());
    cut.truncate(cut.len() - 9);
    assert!(matches!(accounts(&cut), Err(SavedStateError::Compression(_))));
    assert!(matches!(accounts(&[0x1f, 0x8b]), Err(SavedStateError::Compression(_))));
    let endless = compressed(&vec![b' '; MAX_BYTES + 1]);
    assert!(endless.len() < MAX_BYTES / 100);
    assert!(matches!(accounts(&endless), Err(SavedStateError::TooLong)));
}
