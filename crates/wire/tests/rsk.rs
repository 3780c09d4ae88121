//! Messages of rsk/62 and rhz/1.

mod properties;
mod vectors;
