//! How much memory a state holds.

use std::mem::size_of;

use rhizome_primitives::{Address, U256};

use super::State;
use super::account::{Account, AccountIndex, Cell, CellIndex, CellValue, Parts};
use super::code::Code;
use super::journal::Undo;

impl State {
    /// About how many bytes of memory it holds, without its reader.
    pub(crate) fn bytes(&self) -> usize {
        let accounts: usize = self.accounts.iter().map(Account::bytes_beside).sum();
        let cells: usize = self.cells.iter().map(Cell::bytes_beside).sum();
        let undone: usize = self.journal.iter().map(Undo::bytes_beside).sum();
        self.accounts.capacity() * size_of::<Account>()
            + self.index.capacity() * size_of::<(Address, AccountIndex)>()
            + self.cells.capacity() * size_of::<Cell>()
            + self.journal.capacity() * size_of::<Undo>()
            + accounts
            + cells
            + undone
    }
}

impl Account {
    fn bytes_beside(&self) -> usize {
        self.key_bytes() + self.parts.bytes_beside()
    }
}

impl Parts {
    fn bytes_beside(&self) -> usize {
        self.cells.capacity() * size_of::<(U256, CellIndex)>()
            + self.code.base.bytes_beside()
            + self.code.current.bytes_beside()
    }
}

impl Cell {
    fn bytes_beside(&self) -> usize {
        self.key.capacity() + self.base.bytes_beside() + self.current.bytes_beside()
    }
}

impl CellValue {
    fn bytes_beside(&self) -> usize {
        match self {
            CellValue::Word(_) => 0,
            CellValue::Raw(bytes) => bytes.len(),
        }
    }
}

impl Code {
    /// Others may hold the same bytes; they count here all the same.
    fn bytes_beside(&self) -> usize {
        match self {
            Code::Present { bytes: None, executable: None, .. } | Code::Absent => 0,
            // With the table of jump destinations.
            Code::Present { length, .. } => length + length / 8,
        }
    }
}

impl Undo {
    fn bytes_beside(&self) -> usize {
        match self {
            Undo::Value { .. } | Undo::Mark { .. } | Undo::Transient { .. } => 0,
            Undo::Code { previous, .. } => previous.bytes_beside(),
            Undo::Cell { previous, .. } => previous.bytes_beside(),
            Undo::Deletion { previous, .. } => size_of::<Parts>() + previous.bytes_beside(),
        }
    }
}
