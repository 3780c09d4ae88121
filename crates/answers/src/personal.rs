//! `personal_*`: the accounts that this node keeps. Encryption and decryption happen above: keys come in clear and are in
//! memory only while their accounts are unlocked.

pub mod address_of_key;
pub mod dump_raw_key;
pub mod ec_recover;
pub mod encrypted_key;
pub mod list_accounts;
pub mod lock_account;
pub mod new_account_with_seed;
pub mod send_transaction;
pub mod sign;
pub mod store_key;
pub mod unlock_account;
