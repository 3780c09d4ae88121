//! Promises of commands, such as imports, that a separate thread settles. Answers of the pool: `answer_queue.rs`.

use crate::reply::{Reply, refusal};
use napi::bindgen_prelude::Object;
use napi::{Env, JsDeferred, Result};
use rhizome_answers::Answer;

type Resolver = Box<dyn FnOnce(Env) -> Result<Reply> + Send>;
/// The native end of a promise, which any thread can settle.
pub(crate) type DeferredReply = JsDeferred<Reply, Resolver>;

/// Makes a promise. It settles behind calls of thread-safe functions that its thread made before, for example reports of
/// progress.
pub(crate) fn promise(env: &Env) -> Result<(DeferredReply, Object<'_>)> {
    env.create_deferred::<Reply, Resolver>()
}

/// Settles a promise.
pub(crate) fn settle(reply: DeferredReply, answer: Answer) {
    match answer {
        Ok(text) => reply.resolve(Box::new(move |_env| Ok(Reply(text)))),
        Err(error) => reply.reject(refusal(error)),
    }
}
