import { Type } from 'typebox'
import { objectText } from '../kind.ts'
import { callObject } from './callObject.ts'
import { traceTypes } from './traceTypes.ts'

/** First parameter of trace_callMany. `crates/answers/src/trace/call_many.rs` reads it. */
export const wantedCalls = objectText(
  'calls',
  'an array of [call, types]',
  Type.Array(Type.Tuple([callObject.schema, traceTypes.schema])),
)
