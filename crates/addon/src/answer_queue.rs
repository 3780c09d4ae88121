//! Answers of the pool on their way to JavaScript.
//!
//! Each thread of JavaScript has one queue. With a thread-safe function for each promise, all answers that are ready would be
//! settled in one step of the event loop, in which the thread serves no other caller. From the queue the thread settles a few at
//! a time, within the budget of its event loop, and the owners of the answers take turns.

use crate::owner;
use crate::reply::{self, refusal};
use napi::bindgen_prelude::{Function, Object, ToNapiValue};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status, sys};
use napi_derive::napi;
use parking_lot::Mutex;
use rhizome_answers::Answer;
use rhizome_answers::fair_queue::{FairQueue, Owner};
use std::cell::OnceCell;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Limits of one step: answers, and bytes after which no further answer is settled. With 8 answers `debug_traceTransaction` of 32
/// connections was a tenth slower: the rest waited for another turn of the event loop.
const ANSWERS_PER_STEP: usize = 32;
const BYTES_PER_STEP: usize = 64 * 1024;

/// Calls the thread of a queue. Referenced only while promises are open, which keep the thread running.
type Wake = ThreadsafeFunction<(), (), (), Status, false, true>;

thread_local! {
    static QUEUE: OnceCell<Arc<AnswerQueue>> = const { OnceCell::new() };
}

/// Finished answers for one thread of JavaScript.
struct AnswerQueue {
    waiting: Mutex<WaitingAnswers>,
    wake: Wake,
    /// Number of promises that are not settled. Only the thread of the queue changes it.
    open: AtomicUsize,
}

struct WaitingAnswers {
    answers: FairQueue<FinishedAnswer>,
    /// Whether the thread was called and has not yet found the queue empty.
    is_awake: bool,
}

struct FinishedAnswer {
    promise: PromiseHandle,
    answer: Answer,
}

/// The end of a promise that settles it.
struct PromiseHandle {
    deferred: sys::napi_deferred,
    is_batch: bool,
}

#[expect(unsafe_code, reason = "other threads only hold the pointer")]
// Safety: only the thread that made the promise dereferences the pointer.
unsafe impl Send for PromiseHandle {}

/// Promise that any thread can settle.
pub(crate) struct PendingAnswer {
    queue: Arc<AnswerQueue>,
    pub(crate) owner: Owner,
    promise: PromiseHandle,
}

/// Makes a promise, which belongs to the owner of the current request.
#[expect(unsafe_code, reason = "napi has no promise without a thread-safe function")]
pub(crate) fn promise(env: &Env) -> Result<(PendingAnswer, Object<'_>)> {
    let queue = queue_of_thread(env)?;
    let owner = owner::current(env)?;
    let (mut deferred, mut promise) = (null_mut(), null_mut());
    // Safety: the environment is that of the caller.
    checked(unsafe { sys::napi_create_promise(env.raw(), &mut deferred, &mut promise) })?;
    if queue.open.fetch_add(1, Ordering::Relaxed) == 0 {
        // Safety: the function lives as long as its handle, and this is its thread.
        checked(unsafe { sys::napi_ref_threadsafe_function(env.raw(), queue.wake.handle.get_raw()) })?;
    }
    let pending = PendingAnswer { queue, owner, promise: PromiseHandle { deferred, is_batch: owner::is_batch() } };
    Ok((pending, Object::from_raw(env.raw(), promise)))
}

impl PendingAnswer {
    /// Queues the answer and calls the thread of the promise. Has no effect if that thread has ended.
    pub(crate) fn settle(self, answer: Answer) {
        let Self { queue, owner, promise } = self;
        let was_awake = {
            let mut waiting = queue.waiting.lock();
            let _none_displaced = waiting.answers.push(owner, FinishedAnswer { promise, answer });
            std::mem::replace(&mut waiting.is_awake, true)
        };
        if !was_awake {
            queue.wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

/// Sets the function that is called when more answers of this thread wait than one step settles: it has to call `settleAnswers`
/// until that returns false. Without it, all answers that are ready are settled in one step. Later calls have no effect.
#[napi(catch_unwind, ts_args_type = "callback: () => void")]
pub fn on_answers(env: &Env, callback: Function<'_, (), ()>) -> Result<()> {
    let callback = callback.create_ref()?;
    queue_with(env, move |env| callback.borrow_back(env)?.call(())).map(drop)
}

/// Settles some of the answers of this thread. Returns false if no further answer waits.
#[napi(catch_unwind)]
pub fn settle_answers(env: &Env) -> Result<bool> {
    queue_of_thread(env)?.settle_some(env)
}

fn queue_of_thread(env: &Env) -> Result<Arc<AnswerQueue>> {
    queue_with(env, |env| {
        while settle_answers(env)? {}
        Ok(())
    })
}

/// Returns the queue of this thread. Makes it if there is none: the first step of a wake runs at once, and `settle_rest` settles the
/// answers that it leaves.
fn queue_with(env: &Env, settle_rest: impl Fn(&Env) -> Result<()> + 'static) -> Result<Arc<AnswerQueue>> {
    QUEUE.with(|queue| {
        if let Some(queue) = queue.get() {
            return Ok(Arc::clone(queue));
        }
        let woken: Function<'_, (), ()> = env.create_function_from_closure("answersWait", move |call| {
            if settle_answers(call.env)? { settle_rest(call.env) } else { Ok(()) }
        })?;
        let made = AnswerQueue::new(&woken)?;
        Ok(Arc::clone(queue.get_or_init(|| made)))
    })
}

impl AnswerQueue {
    fn new(callback: &Function<'_, (), ()>) -> Result<Arc<Self>> {
        let wake = callback.build_threadsafe_function::<()>().weak::<true>().build()?;
        let waiting = WaitingAnswers { answers: FairQueue::new(usize::MAX), is_awake: false };
        Ok(Arc::new(Self { waiting: Mutex::new(waiting), wake, open: AtomicUsize::new(0) }))
    }

    fn settle_some(&self, env: &Env) -> Result<bool> {
        let mut bytes = 0;
        for _ in 0..ANSWERS_PER_STEP {
            let Some(finished) = self.waiting.lock().next() else { return Ok(false) };
            bytes += finished.answer.as_ref().map_or(0, Vec::len);
            self.settle(env, finished)?;
            if bytes >= BYTES_PER_STEP {
                break;
            }
        }
        Ok(true)
    }

    #[expect(unsafe_code, reason = "napi has no promise without a thread-safe function")]
    fn settle(&self, env: &Env, FinishedAnswer { promise, answer }: FinishedAnswer) -> Result<()> {
        let raw = env.raw();
        // Safety: the environment is that of the caller, and this is the thread of the promise.
        let value = match answer {
            Ok(text) => unsafe { reply::value_of(raw, text, promise.is_batch) },
            Err(error) => Err(refusal(error)),
        };
        // Safety: as above. Each promise is settled once.
        checked(match value {
            Ok(value) => unsafe { sys::napi_resolve_deferred(raw, promise.deferred, value) },
            Err(error) => unsafe {
                sys::napi_reject_deferred(raw, promise.deferred, ToNapiValue::to_napi_value(raw, error)?)
            },
        })?;
        if self.open.fetch_sub(1, Ordering::Relaxed) == 1 {
            // Safety: as for the reference.
            checked(unsafe { sys::napi_unref_threadsafe_function(raw, self.wake.handle.get_raw()) })?;
        }
        Ok(())
    }
}

impl WaitingAnswers {
    fn next(&mut self) -> Option<FinishedAnswer> {
        let next = self.answers.pop();
        self.is_awake = next.is_some();
        next
    }
}

fn checked(status: sys::napi_status) -> Result<()> {
    reply::checked(status, "a promise could not be made or settled")
}
