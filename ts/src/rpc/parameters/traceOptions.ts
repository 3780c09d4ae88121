import { Type } from 'typebox'
import { objectText } from '../kind.ts'

const tracers = ['rskTracer', 'callTracer', 'prestateTracer'] as const
const switches = [
  'onlyTopCall',
  'withLog',
  'diffMode',
  'disableCode',
  'disableMemory',
  'disableStack',
  'disableStorage',
] as const

const flags = Object.fromEntries(switches.map((name) => [name, Type.Optional(Type.Boolean())]))

/** Options of debug_trace*. `crates/answers/src/tracing/options.rs` reads them. */
export const traceOptions = objectText(
  'options',
  `an object with tracer (${tracers.join(', ')}), tracerConfig, ${switches.join(', ')}`,
  Type.Object({
    tracer: Type.Optional(Type.Enum([...tracers])),
    tracerConfig: Type.Optional(Type.Object(flags)),
    ...flags,
  }),
)
