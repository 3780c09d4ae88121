//! `uncle_rules.json` (block graphs and a candidate with uncles) and `uncles_hash.json`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rhizome_pow::uncles::{UncleWindow, check_count};
use rhizome_primitives::{Bytes, ChainSpec, Header, uncles_hash};
use serde_json::Value;

use super::ancestry::Blocks;
use super::cases::{each_case, spec, spec_of};
use crate::report::{CaseFailure, CaseResult, SuiteReport, broken, equal};
use crate::vectors::VectorFields;

pub(crate) fn check_hashes(json: &Value, report: &mut SuiteReport) -> CaseResult {
    each_case(json, report, |case| {
        let spec = spec(case)?;
        let mut uncles = Vec::new();
        for raw in case.member("uncles")?.items()? {
            uncles.push(Header::decode(&raw.bytes()?, &spec).map_err(|error| broken("uncle", error))?);
        }
        equal("unclesHash", case.member("unclesHash")?.parsed()?, uncles_hash(&uncles))
    })
}

pub(crate) fn check_rules(json: &Value, report: &mut SuiteReport) -> CaseResult {
    let spec = spec_of("regtest")?;
    each_case(json, report, |case| check_candidate(case, &spec))
}

/// The blocks of a case, by id.
struct Graph<'s> {
    spec: &'s ChainSpec,
    headers: HashMap<String, Arc<Header>>,
    stored: Blocks,
}

impl Graph<'_> {
    fn header(&self, id: &Value) -> Result<&Arc<Header>, CaseFailure> {
        let id = id.text()?;
        self.headers.get(id).ok_or_else(|| broken("block graph", format!("no block {id}")))
    }

    fn new_header(&self, number: u64, parent: Option<&Value>, id: &str) -> Result<Header, CaseFailure> {
        let mut header = Header::new(number, self.spec);
        if let Some(parent) = parent {
            header.parent_hash = self.header(parent)?.hash().into();
        }
        header.extra_data = Bytes::copy_from_slice(id.as_bytes());
        Ok(header)
    }

    fn add(&mut self, node: &Value) -> CaseResult {
        let id = node.member("id")?.text()?;
        let header = Arc::new(self.new_header(node.member("number")?.number()?, node.optional("parent"), id)?);
        let uncles = node.optional("uncles").map_or(Ok(&[][..]), VectorFields::items)?;
        let uncles = uncles.iter().map(|uncle| Ok(self.header(uncle)?.hash())).collect::<Result<_, CaseFailure>>()?;
        if node.optional("stored").map_or(Ok(true), VectorFields::boolean)? {
            self.stored.add(&header, uncles);
        }
        self.headers.insert(id.to_owned(), header);
        Ok(())
    }
}

fn check_candidate(case: &Value, spec: &ChainSpec) -> CaseResult {
    let mut graph = Graph { spec, headers: HashMap::new(), stored: Blocks::default() };
    for node in case.member("blocks")?.items()? {
        graph.add(node)?;
    }
    let number = case.member("candidateNumber")?.number()?;
    let candidate = graph.new_header(number, Some(case.member("candidateParent")?), "candidate")?;
    let uncles = case.member("candidateUncles")?.items()?;
    let uncles: Vec<_> = uncles.iter().map(|uncle| graph.header(uncle)).collect::<Result<_, _>>()?;
    let window = UncleWindow::of(&candidate, &graph.stored, spec).map_err(|error| broken("window", error))?;
    let mut checked = HashSet::new();
    let verdict = check_count(uncles.len(), spec).and_then(|()| {
        let mut positions = uncles.iter().enumerate();
        positions.try_for_each(|(position, uncle)| window.check(position, uncle, &mut checked))
    });
    equal("valid", case.member("valid")?.boolean()?, verdict.is_ok())
}
