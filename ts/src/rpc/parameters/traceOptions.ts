import { Type } from 'typebox'
import { objectText } from '../kind.ts'
import { blockOverrides, stateOverrides } from './overrides.ts'

const tracers = [
  'rskTracer',
  'callTracer',
  'prestateTracer',
  '4byteTracer',
  'flatCallTracer',
  'muxTracer',
  'noopTracer',
  'erc7562Tracer',
] as const
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

const members = {
  tracer: Type.Optional(Type.Enum([...tracers])),
  // Of the muxTracer: the configurations of its tracers by name.
  tracerConfig: Type.Optional(Type.Object({ ...flags, ignoredOpcodes: Type.Optional(Type.Array(Type.Unknown())) })),
  ...flags,
}
const expects = `an object with tracer (${tracers.join(', ')}), tracerConfig, ${switches.join(', ')}`

// `crates/answers/src/tracing/options.rs` reads the options.

/** Options of debug_trace*. */
export const traceOptions = objectText('options', expects, Type.Object(members))

/** Options of debug_traceCall. */
export const tracedCallOptions = objectText(
  'options',
  `${expects}, stateOverrides, blockOverrides`,
  Type.Object({
    ...members,
    stateOverrides: Type.Optional(stateOverrides.schema),
    blockOverrides: Type.Optional(blockOverrides.schema),
  }),
)
