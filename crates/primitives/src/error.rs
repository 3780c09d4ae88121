//! What can be wrong with received bytes.

/// Why an encoding was refused. The reference refuses the same inputs while it decodes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// An item starts behind the end of its enclosing data.
    #[error("the input ends where an RLP item should start")]
    MissingItem,
    /// Header plus content of an item pass the end of the enclosing data.
    #[error("an RLP item of {length} bytes does not fit into the {available} bytes left")]
    OutOfBounds {
        /// Length that the item claims for its content.
        length: usize,
        /// Bytes between the start of the content (or of its length bytes) and the end of the enclosing data.
        available: usize,
    },
    /// The 32-bit length has its top bit set.
    #[error("the RLP length {0:#x} is negative as a 32-bit number")]
    NegativeLength(u32),
    /// More (or other) than exactly one list was given.
    #[error("expected exactly one RLP list")]
    NotOneList,
    /// A list was needed, a string was found.
    #[error("{0} must be an RLP list")]
    ExpectedList(&'static str),
    /// Wrong number of elements.
    #[error("{what} cannot have {got} elements")]
    ElementCount {
        /// The object that was read.
        what: &'static str,
        /// Elements found.
        got: usize,
    },
    /// A field has a length that it may not have.
    #[error("{field} cannot be {got} bytes long")]
    FieldLength {
        /// The field that was read.
        field: &'static str,
        /// Bytes found.
        got: usize,
    },
    /// A number is larger than its field allows.
    #[error("{0} is too large")]
    TooLarge(&'static str),
    /// A number may not be negative.
    #[error("{0} is negative")]
    Negative(&'static str),
    /// A field that must be there is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
}

/// Why a header has no hash for merged mining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// A UMM root is either empty or 20 bytes long.
    #[error("the UMM root has {0} bytes instead of 20")]
    UmmRootLength(usize),
    /// Fork detection data is due at this height, but there is no coinbase to read it from.
    #[error("the header has no mining elements to read the fork detection data from")]
    NoMiningElements,
    /// The coinbase does not contain the tag followed by the first 20 bytes of the hash.
    #[error("the merged mining tag is not in the coinbase")]
    TagNotFound,
    /// The coinbase ends before the 12 bytes of fork detection data.
    #[error("the coinbase holds {0} of the 12 bytes of fork detection data")]
    ForkDataLength(usize),
}

/// Why a transaction has no sender, or could not be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is no signature.
    #[error("the transaction is not signed")]
    Unsigned,
    /// r is not below the field prime; the reference sees the null address as sender.
    #[error("r is not a field element")]
    OutOfField,
    /// r is zero, or no point of the curve has it as x-coordinate, or the key would be the point at infinity.
    #[error("no public key belongs to the signature")]
    NoKey,
    /// The private key is zero or not below the group order.
    #[error("the private key is not a scalar of the curve")]
    InvalidKey,
    /// The chain id is too large for the single byte v.
    #[error("chain id {0} does not fit into a signature")]
    ChainId(u8),
}
