//! Coins of the federations (docs/spec/bridge.md, 3.2).

use crate::error::Result;
use crate::federation::require_genesis_federation;
use crate::storage::Storage;

/// Reads the coins of the active federation. Only the empty list is implemented.
pub(crate) fn read_active_coins(storage: &mut Storage<'_>) -> Result<()> {
    require_genesis_federation(storage)?;
    storage.active_coins.get(&mut storage.slots)?;
    Ok(())
}
