//! Vectors of the rsk messages.
