import { Type } from 'typebox'
import { type Kind, quoted, refuse, refuseLate, shortened } from '../kind.ts'

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

/** Tracer and enabled switches. */
export type TraceOptions = { tracer: (typeof tracers)[number] } & { [name in (typeof switches)[number]]?: true }

const flags = Object.fromEntries(switches.map((name) => [name, Type.Optional(Type.Boolean())]))

/**
 * Options of debug_trace*. Switches are members of the options or of `tracerConfig`. The case of tracers and switches is
 * ignored, `"true"` counts as true, unknown members are ignored.
 */
export const traceOptions: Kind<TraceOptions> = {
  name: 'options',
  expects: `an object with tracer (${tracers.join(', ')}), tracerConfig, ${switches.join(', ')}`,
  schema: Type.Object({
    tracer: Type.Optional(Type.Enum([...tracers])),
    tracerConfig: Type.Optional(Type.Object(flags)),
    ...flags,
  }),
  read(value) {
    if (!isObject(value)) return refuseLate(this, 'Invalid trace options', 'only here')
    const { tracer, tracerConfig } = value
    if (tracerConfig !== undefined && tracerConfig !== null && !isObject(tracerConfig)) {
      return refuseLate(this, 'Invalid tracerConfig: an object is expected', 'only here')
    }
    const options: TraceOptions = { tracer: tracerOf(this, tracer) }
    for (const [name, member] of [...Object.entries(value), ...Object.entries(tracerConfig ?? {})]) {
      const known = switches.find((one) => one.toLowerCase() === name.toLowerCase())
      if (known !== undefined && isOn(member)) options[known] = true
    }
    return options
  },
}

const overrides = ['stateOverrides', 'blockOverrides']

/** Options of debug_traceCall: like `traceOptions`, but overrides are rejected, because they would change the execution. */
export const callTraceOptions: Kind<TraceOptions> = {
  ...traceOptions,
  read(value) {
    const given = isObject(value)
      ? overrides.find((name) => value[name] !== undefined && value[name] !== null)
      : undefined
    return given === undefined
      ? traceOptions.read(value)
      : refuse(this, `Invalid trace options: ${given} are not supported`)
  },
}

function isOn(member: unknown): boolean {
  return member === true || (typeof member === 'string' && member.toLowerCase() === 'true')
}

function tracerOf(kind: Kind<TraceOptions>, value: unknown): TraceOptions['tracer'] {
  if (value === undefined || value === null) return 'rskTracer'
  const known = tracers.find((one) => typeof value === 'string' && one.toLowerCase() === value.toLowerCase())
  return known ?? refuse(kind, `Invalid tracer: ${shortened(quoted(value))}`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
