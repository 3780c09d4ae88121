//! Errors of decoding and of signatures.

/// Reasons to reject an encoding. The reference rejects the same inputs while decoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// An item starts after the end of its enclosing data.
    #[error("the input ends where an RLP item should start")]
    MissingItem,
    /// Header and content of an item exceed the end of the enclosing data.
    #[error("an RLP item of {length} bytes does not fit into the {available} bytes left")]
    OutOfBounds {
        /// Length of the content as stated by the item.
        length: usize,
        /// Number of bytes between the start of the content (or of its length bytes) and the end of the enclosing
        /// data.
        available: usize,
    },
    /// The 32-bit length has its top bit set.
    #[error("the RLP length {0:#x} is negative as a 32-bit number")]
    NegativeLength(u32),
    /// The data is not exactly one list.
    #[error("expected exactly one RLP list")]
    NotOneList,
    /// A string where a list is required.
    #[error("{0} must be an RLP list")]
    ExpectedList(&'static str),
    /// Wrong number of elements.
    #[error("{what} cannot have {got} elements")]
    ElementCount {
        /// Type of the decoded object.
        what: &'static str,
        /// Number of elements.
        got: usize,
    },
    /// A field has an invalid length.
    #[error("{field} cannot be {got} bytes long")]
    FieldLength {
        /// The invalid field.
        field: &'static str,
        /// Length in bytes.
        got: usize,
    },
    /// A number exceeds the maximum of its field.
    #[error("{0} is too large")]
    TooLarge(&'static str),
    /// A number is negative.
    #[error("{0} is negative")]
    Negative(&'static str),
    /// A required field is absent.
    #[error("{0} is missing")]
    Missing(&'static str),
}

/// Reasons why a header has no hash for merged mining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The UMM root is neither empty nor 20 bytes long.
    #[error("the UMM root has {0} bytes instead of 20")]
    UmmRootLength(usize),
    /// The header must have fork detection data at this height, but has no coinbase to read them from.
    #[error("the header has no mining elements to read the fork detection data from")]
    NoMiningElements,
    /// The coinbase does not contain the tag followed by the first 20 bytes of the hash.
    #[error("the merged mining tag is not in the coinbase")]
    TagNotFound,
    /// The coinbase ends before the 12 bytes of fork detection data.
    #[error("the coinbase holds {0} of the 12 bytes of fork detection data")]
    ForkDataLength(usize),
}

/// Reasons why an extension does not belong to a header that was received in compressed form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// The extension is malformed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The header needs an extension, and there is none.
    #[error("the extension is missing")]
    Missing,
    /// The header is complete, and there is an extension.
    #[error("the header has no extension")]
    Unexpected,
    /// The extension does not have the version and the hash of the header.
    #[error("the extension has another version or hash than the header")]
    Mismatch,
}

/// Reasons why a transaction has no sender, or cannot be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is no signature.
    #[error("the transaction is not signed")]
    Unsigned,
    /// r is not below the field prime; the reference uses the null address as sender.
    #[error("r is not a field element")]
    OutOfField,
    /// r is zero or not the x-coordinate of a point on the curve.
    #[error("no public key belongs to the signature")]
    NoKey,
    /// The private key is zero or not below the group order.
    #[error("the private key is not a scalar of the curve")]
    InvalidKey,
    /// The chain id is too large for the single byte v.
    #[error("chain id {0} does not fit into a signature")]
    ChainId(u8),
}
