// Phrases that comments and Markdown must not contain. A space in a pattern matches any white space, also a line break.
// `pattern`: regular expression, matched without regard to case and at word borders. `instead`: the advice that the check
// prints. `except`: paths (prefixes) where the phrase is a term of the field. docs/contributing/prose.md has the reasons.

const person = 'name the thing: caller, request, block, account, thread, client'
const condition = 'write "if …", "`None` if …", "absent if …", "otherwise …"'
const clause = 'name the thing instead of a "what …" clause; start a doc line with a verb or a noun'
const location = 'write "is", "is located", "is stored", "precedes", "follows"'
const continuation = 'write "continues", "resumes", "proceeds"'
const receipt = 'write "arrives", "is received", "is returned"'

export const refused = [
  // Persons and pronouns.
  { pattern: 'who|whoever|whom|whomever', instead: person },
  { pattern: 'he|him|himself|his|she|her|herself', instead: person },
  {
    pattern: 'somebody|someone|nobody|no one|anybody|anyone|everybody|everyone',
    instead: `${person}; or use the passive: "is not read"`,
  },
  { pattern: 'visitors?|strangers?', instead: 'write "caller", "client", "unknown app"' },
  { pattern: 'ours', instead: 'write "of this node", "own"' },
  { pattern: 'those (that|which)', instead: 'name the things: "blocks that …"' },
  { pattern: '(the )?ones? (that|which)', instead: 'name the thing: "a block that …"' },
  { pattern: 'another one', instead: 'write "a different …", "another block"' },
  {
    pattern: '(all|nothing|anything|everything) else (that )?(is|was)',
    instead: 'name the things: "the other fields are …"',
  },
  { pattern: 'all else', instead: 'write "everything else", "the rest"' },
  { pattern: '(nothing|none|the whole) of (it|them)', instead: 'write "is not …", "completely"' },
  { pattern: 'nothing but', instead: 'write "only"' },

  // Clauses in the place of a noun.
  {
    pattern: 'what (is|was|are|were|has|had|have|it|they|comes|came|stands|lies|goes|went|belongs|happens)',
    instead: clause,
  },
  { pattern: '<start>what(?![^.]*\\?)', instead: clause },
  { pattern: '<start>whatever', instead: 'write "any …", "all …"' },
  { pattern: 'whatever (is|was|are|were|has|had|comes)', instead: 'write "any …", "all …"' },
  { pattern: 'how long', instead: 'write "length", "duration", "time"' },
  { pattern: '<start>how (many|much|often|far)', instead: 'write "number of", "amount of", "maximum …"' },
  {
    pattern: 'so (many|long|much|often)',
    instead: 'write "at most N", "this number of", "N milliseconds", "that long"',
  },
  { pattern: 'none (when|where|if|for|before|until|without|while|unless|of that|there)', instead: condition },
  { pattern: '(undefined|null|none|empty|false|true|absent|zero|0|``) where', instead: condition },
  { pattern: 'where (there|that|this) (is|are|was|were)', instead: condition },
  { pattern: '<start>as ``', instead: 'write "Like `name`, but …"' },

  // Words of the old dialect.
  { pattern: 'tells?|told|telling', instead: 'write "reports", "returns", "notifies", "shows"' },
  { pattern: '(hears?|heard) of|hears?', instead: 'write "is notified", "receives"' },
  { pattern: '(knows?|known|knew|knowing) of', instead: 'write "has", "is aware of", "finds"' },
  { pattern: '(stand|stands|stood|standing) back', instead: 'write "yields", "runs at lower priority"' },
  { pattern: '(give|gives|gave|giving) way', instead: 'write "yields"' },
  {
    pattern:
      '(stand|stands|stood) (before|after|behind|on|in|at|there|somewhere|beside|between|twice|where|as|above|below|still|alone)',
    instead: location,
  },
  { pattern: 'as (it|they) stands?', instead: 'write "unchanged", "as stored"' },
  {
    pattern:
      '(lie|lies|lay|lying) (in|on|at|below|above|beyond|behind|before|far|between|there|where|beside|elsewhere|word)',
    instead: location,
  },
  { pattern: '(?<!table )cells?', instead: 'write "storage slot", "slot"' },
  { pattern: 'built-in contracts?', instead: 'write "precompile"' },
  {
    pattern: 'lanes?',
    instead: 'write "executor"; SIMD lanes are fine in the folders that `except` names',
    except: [
      'crates/primitives/src/keccak',
      'crates/primitives/src/transaction/recovery',
      'crates/primitives/benches',
      'crates/pow',
      'docs/design',
    ],
  },
  {
    pattern: 'brief (calls?|executions?|answers?|deadlines?|works?|ones?|budgets?)|(is|are|be|stay|stays) brief',
    instead: 'write "inline call"',
  },
  { pattern: 'patience', instead: 'write "execution limit"' },
  { pattern: 'tickets?', instead: 'write "cancellation token"' },
  { pattern: '(?<!in )(?<!in-)flights?', instead: 'write "request context"; "in flight" is fine' },
  { pattern: '(?<!internet )drafts?', instead: 'write "pending block"' },
  { pattern: 'filed', instead: 'write "flushed", "stored"' },
  { pattern: 'in a row', instead: 'write "consecutive", "one after another", "import pipeline"' },
  { pattern: 'of now|of today|of late', instead: 'write "current", "recent"' },
  { pattern: 'anew', instead: 'write "again"' },
  { pattern: 'newest', instead: 'write "most recent", "latest"' },
  { pattern: 'in vain', instead: 'write "without effect", "is wasted"' },
  {
    pattern: '(let|lets|letting) (in|out)|(keep|keeps|kept) (him |them |it )?out(?! of)',
    instead: 'write "accepts", "admits", "rejects"',
  },
  { pattern: '(come|comes|came|coming) (to nothing|about)', instead: 'write "is discarded", "is produced"' },
  { pattern: '(come|comes|came|coming) back', instead: receipt },
  { pattern: '(has|have|had) come', instead: receipt },
  { pattern: '(go|goes|going|went) on(?! (to|chain|top))', instead: continuation },
  { pattern: '(is|are|was|were|be) gone', instead: 'write "no longer exists", "was removed", "has closed"' },
  { pattern: '(go|goes|going|went|fall|falls|fell) away', instead: 'write "is removed", "is dropped", "disconnects"' },
  { pattern: '(become|becomes|became) of', instead: 'write "the outcome of", "happens to"' },
  { pattern: '(break|breaks|broke|broken) off', instead: 'write "aborts", "is cancelled"' },
  { pattern: '(looks?|looking|looked) (on|again)', instead: 'write "observes", "checks again"' },
  { pattern: 'a look', instead: 'write "a check", "a quick run", "a read"' },
  { pattern: '(hold|holds|held|holding) up', instead: 'write "blocks", "delays"' },
  { pattern: 'owe|owes|owed', instead: 'write "pending", "to be sent"' },
  { pattern: '(do|does|did|doing) without', instead: 'write "omits", "has no …", "does not need"' },
  { pattern: '(in|take|takes|took|taking) (its|their) place', instead: 'write "replaces", "instead"' },
  { pattern: 'of (its|their|our|an) own', instead: 'write "a separate …", "its own …"' },
  { pattern: 'all the same', instead: 'write "anyway", "still", "nevertheless"' },
  { pattern: 'at the most', instead: 'write "at most"' },
  { pattern: 'for ever', instead: 'write "indefinitely", "without end"' },
  { pattern: 'may not', instead: 'write "must not", "is rejected", "might not"' },
  {
    pattern: 'good (keys?|tokens?|blocks?|signatures?|apps?)|(is|are|be|stay|stays) good (for|now|on)',
    instead: 'write "valid"',
  },
  {
    pattern: 'wants? (no )?more|wants? to know',
    instead: 'name the consumer and the event: "the receiver has closed", "listeners for …"',
  },
  { pattern: ', about(?=[.;:])', instead: 'write "approximately", "estimated"' },
  { pattern: 'most often', instead: 'write "usually"' },
  {
    pattern: 'till|whilst|amongst|thereof|therein|thereby|thereupon|hitherto|likewise',
    instead: 'write "until", "while", "among", "also" or nothing',
  },
  { pattern: 'TODO|FIXME|XXX', instead: 'open an issue' },
]
