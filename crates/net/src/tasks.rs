//! Starts the tasks of the network's threads. They are boxed: the code of tokio for a task is compiled for each type of future.

use std::pin::Pin;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts a task from a task.
pub(crate) fn start(task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let task: Task = Box::pin(task);
    tokio::spawn(task)
}

/// Starts a task from a thread outside of the runtime.
pub(crate) fn start_on(runtime: &Runtime, task: impl Future<Output = ()> + Send + 'static) {
    let task: Task = Box::pin(task);
    runtime.spawn(task);
}
