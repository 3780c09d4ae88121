use std::ops::ControlFlow;
use std::sync::Arc;

use rhizome_primitives::Bytes;

use crate::state::{StateDelta, StateError, StateReader};

/// A state with changes on top.
pub struct ChangedState {
    base: Arc<dyn StateReader>,
    delta: StateDelta,
}

impl ChangedState {
    /// Returns the state `base` after the changes of `delta`.
    pub fn new(base: Arc<dyn StateReader>, delta: StateDelta) -> Self {
        Self { base, delta }
    }
}

impl StateReader for ChangedState {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StateError> {
        if let Some(written) = self.delta.writes.get(key) {
            return Ok(written.clone().filter(|value| !value.is_empty()));
        }
        if self.delta.wiped.iter().any(|account| key.starts_with(account)) {
            return Ok(None);
        }
        self.base.get(key)
    }

    fn visit_keys(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), StateError> {
        let is_changed = |key: &[u8]| {
            self.delta.writes.contains_key(key) || self.delta.wiped.iter().any(|account| key.starts_with(account))
        };
        let mut is_stopped = false;
        self.base.visit_keys(prefix, &mut |key| {
            if is_changed(key) {
                return ControlFlow::Continue(());
            }
            let next = visit(key);
            is_stopped = next.is_break();
            next
        })?;
        let written = self.delta.writes.range(prefix.to_vec()..).take_while(|(key, _)| key.starts_with(prefix));
        for (key, value) in written {
            let is_there = value.as_ref().is_some_and(|value| !value.is_empty());
            if is_stopped || is_there && visit(key).is_break() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Everywhere;

    impl StateReader for Everywhere {
        fn get(&self, _key: &[u8]) -> Result<Option<Bytes>, StateError> {
            Ok(Some(Bytes::from_static(b"old")))
        }

        fn visit_keys(
            &self,
            _prefix: &[u8],
            visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
        ) -> Result<(), StateError> {
            let keys: [&[u8]; 4] = [&[1, 4], &[1, 6], &[2], &[3]];
            let _is_stopped = keys.into_iter().try_for_each(visit);
            Ok(())
        }
    }

    #[test]
    fn changes_hide_values_of_the_base_state() {
        let mut delta = StateDelta::default();
        delta.wiped.insert(vec![1]);
        delta.writes.insert(vec![1, 5], Some(Bytes::from_static(b"new")));
        delta.writes.insert(vec![2], None);
        let state = ChangedState::new(Arc::new(Everywhere), delta);
        let text = |key: &[u8]| state.get(key).unwrap().map(|value| value.to_vec());
        assert_eq!(text(&[1, 5]).unwrap(), b"new");
        assert_eq!(text(&[1, 6]), None);
        assert_eq!(text(&[2]), None);
        assert_eq!(text(&[3]).unwrap(), b"old");
        let mut keys = Vec::new();
        let mut collect = |key: &[u8]| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        };
        state.visit_keys(&[], &mut collect).unwrap();
        assert_eq!(keys, [vec![3], vec![1, 5]]);
    }
}
