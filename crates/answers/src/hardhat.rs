//! `hardhat_*`, which answer as `anvil_*` too: what developers do to the state and to senders. Development networks only.

pub mod drop_transaction;
pub mod get_automine;
pub mod impersonate_account;
pub mod mine;
pub mod set_balance;
pub mod set_code;
pub mod set_nonce;
pub mod set_storage_at;
pub mod stop_impersonating_account;
