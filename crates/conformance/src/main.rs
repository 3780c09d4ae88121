//! Runs golden data: `npm run conformance -- DIR [--suite state|blocks|evm|bridge|chains]... [--json]`.
//!
//! DIR has a folder for each suite, or is the folder of one suite. Each failure is printed with the expected value. The exit
//! code is 1 if a case fails, or if a case passes that `tests/vectors/known-failures.yaml` lists as failing.

mod blocks;
mod chains;
mod evm;
mod known_failures;
mod report;
mod state;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use known_failures::{KnownFailures, KnownFailuresError};
use report::SuiteReport;
use vectors::{FileCheck, VectorError, run_files};

const USAGE: &str = "usage: conformance DIR [--suite state|blocks|evm|bridge|chains]... [--json]";

/// Runs the files of the folder of a suite.
type SuiteRunner = fn(&Path, &mut SuiteReport) -> Result<(), VectorError>;

const SUITES: &[(&str, SuiteRunner)] =
    &[("state", run_state), ("blocks", run_blocks), ("evm", evm::run), ("bridge", run_bridge), ("chains", chains::run)];

fn run_state(folder: &Path, report: &mut SuiteReport) -> Result<(), VectorError> {
    let other = |file: &str| (file == "repo.json").then_some(evm::check_repository as FileCheck);
    state::run(folder, other, report)
}

fn run_blocks(folder: &Path, report: &mut SuiteReport) -> Result<(), VectorError> {
    let other = |file: &str| match file {
        "chain_regtest.json" => {
            Some((|json, report| chains::check_import_results("regtest", json, report)) as FileCheck)
        }
        "chain_testnet.json" => {
            Some((|json, report| chains::check_import_results("testnet", json, report)) as FileCheck)
        }
        _ => None,
    };
    blocks::run(folder, other, report)
}

fn run_bridge(folder: &Path, report: &mut SuiteReport) -> Result<(), VectorError> {
    report.enter_suite("bridge");
    run_files(folder, |name| Some(evm::bridge_check_of(name)), report)
}

fn main() -> ExitCode {
    let command = match Command::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if command.is_help {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match command.run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Reasons for not running any case.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("no folder given")]
    NoFolder,
    #[error("one folder only: {0} is one too many")]
    SecondFolder(String),
    #[error("unknown option {0}")]
    UnknownOption(String),
    #[error("--suite needs the name of a suite")]
    NoSuite,
    #[error("unknown suite {0}")]
    UnknownSuite(String),
    #[error("{} has no golden data for {suite}", .folder.display())]
    NoData { folder: PathBuf, suite: String },
    #[error("{}: {error}", .path.display())]
    KnownFailures { path: PathBuf, error: KnownFailuresError },
    #[error(transparent)]
    Vectors(#[from] VectorError),
}

#[derive(Debug, Default)]
struct Command {
    folder: PathBuf,
    /// Names of the suites to run. Empty: all suites with data in the folder.
    suites: Vec<String>,
    is_json: bool,
    is_help: bool,
}

impl Command {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Command, RunError> {
        let mut command = Command::default();
        let mut folder = None;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--json" => command.is_json = true,
                "--help" | "-h" => command.is_help = true,
                "--suite" => {
                    let suite = arguments.next().ok_or(RunError::NoSuite)?;
                    if !SUITES.iter().any(|(name, _)| *name == suite) {
                        return Err(RunError::UnknownSuite(suite));
                    }
                    command.suites.push(suite);
                }
                option if option.starts_with('-') => return Err(RunError::UnknownOption(argument)),
                _ if folder.is_some() => return Err(RunError::SecondFolder(argument)),
                _ => folder = Some(argument),
            }
        }
        match folder {
            Some(folder) => command.folder = folder.into(),
            None if command.is_help => {}
            None => return Err(RunError::NoFolder),
        }
        Ok(command)
    }

    /// Runs the suites. Returns `true` if no case failed unexpectedly.
    fn run(&self) -> Result<bool, RunError> {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/known-failures.yaml"));
        let known =
            KnownFailures::read(path).map_err(|error| RunError::KnownFailures { path: path.to_owned(), error })?;
        // Panics of the code under test are recorded as failures with their text: the default output would repeat it.
        std::panic::set_hook(Box::new(|_| {}));
        let mut report = SuiteReport::new(known, self.is_json);
        for (name, run) in SUITES {
            let is_asked_for = self.suites.iter().any(|suite| suite == name);
            if !is_asked_for && !self.suites.is_empty() {
                continue;
            }
            match self.folder_of(name) {
                Some(folder) => run(&folder, &mut report)?,
                None if is_asked_for => {
                    return Err(RunError::NoData { folder: self.folder.clone(), suite: (*name).to_owned() });
                }
                None => {}
            }
        }
        if report.cases() == 0 {
            return Err(RunError::NoData { folder: self.folder.clone(), suite: "any suite".to_owned() });
        }
        Ok(report.finish())
    }

    /// Returns the folder of a suite: below the given folder, or the given folder itself.
    fn folder_of(&self, suite: &str) -> Option<PathBuf> {
        let below = self.folder.join(suite);
        if below.is_dir() {
            return Some(below);
        }
        let is_own = self.folder.canonicalize().is_ok_and(|folder| folder.ends_with(suite));
        let is_only_one = matches!(self.suites.as_slice(), [only] if only == suite);
        (self.folder.is_dir() && (is_own || is_only_one)).then(|| self.folder.clone())
    }
}
