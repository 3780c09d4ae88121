//! Addresses of nodes as text (docs/spec/p2p.md, 1.3).

use std::fmt;
use std::str::FromStr;

use super::identity::NodeId;

/// Reasons to refuse the text of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnodeError {
    /// The text does not start with `enode://`.
    #[error("an enode URL starts with enode://")]
    Scheme,
    /// There is no `@` behind 128 hex digits.
    #[error("an enode URL has 128 hex digits and @ before the host")]
    Id,
    /// No host, or characters that a host cannot have.
    #[error("the host is invalid")]
    Host,
    /// No port, or not a number from 1 to 65535. One port serves TCP and UDP, so that `?discport` is not accepted.
    #[error("the port is not a number from 1 to 65535")]
    Port,
}

/// Host and port as text: `HOST:PORT`, with the host in brackets if it contains colons.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPort {
    /// Name or address, without brackets.
    pub host: String,
    /// TCP and UDP port.
    pub port: u16,
}

impl FromStr for HostPort {
    type Err = EnodeError;

    fn from_str(text: &str) -> Result<HostPort, EnodeError> {
        let (host, port) = text.rsplit_once(':').ok_or(EnodeError::Port)?;
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|&port| is_number && port != 0).ok_or(EnodeError::Port)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        let host = match host.strip_prefix('[') {
            Some(bracketed) => bracketed
                .strip_suffix(']')
                .filter(|host| {
                    host.contains(':') && host.bytes().all(|byte| is_plain(byte) || matches!(byte, b':' | b'%'))
                })
                .ok_or(EnodeError::Host)?,
            None if !host.is_empty() && host.bytes().all(is_plain) => host,
            None => return Err(EnodeError::Host),
        };
        Ok(HostPort { host: host.to_owned(), port })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HostPort { host, port } = self;
        if host.contains(':') { write!(formatter, "[{host}]:{port}") } else { write!(formatter, "{host}:{port}") }
    }
}

/// Node id and address: `enode://ID@HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Enode {
    /// Node id.
    pub id: NodeId,
    /// Address.
    pub address: HostPort,
}

impl FromStr for Enode {
    type Err = EnodeError;

    fn from_str(text: &str) -> Result<Enode, EnodeError> {
        let (id, address) =
            text.strip_prefix("enode://").ok_or(EnodeError::Scheme)?.split_once('@').ok_or(EnodeError::Id)?;
        Ok(Enode { id: id.parse().or(Err(EnodeError::Id))?, address: address.parse()? })
    }
}

impl fmt::Display for Enode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "enode://{}@{}", self.id, self.address)
    }
}
