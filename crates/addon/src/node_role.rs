use rhizome_fleet::FleetRole;
use serde::Deserialize;

/// Part of the node in a fleet.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NodeRole {
    Importer,
    Replica,
}

impl From<NodeRole> for FleetRole {
    fn from(role: NodeRole) -> Self {
        match role {
            NodeRole::Importer => Self::Importer,
            NodeRole::Replica => Self::Replica,
        }
    }
}
