import { createRequire } from 'node:module'
import { code as codes, RpcError } from '../rpc/errors.ts'
import { eventLoopBudget } from '../rpc/eventLoopBudget.ts'
import type { Addon } from './bindings.ts'
import { AddonMissing } from './error.ts'
import { builtHere, installed, platformPackage } from './places.ts'

/** Loads the addon. Its functions throw only RpcError and NativeDefect, which becomes an internal error. */
export function loadAddon(): Addon {
  const require = createRequire(import.meta.url)
  const path = builtHere('rhizome.node') ?? installed(require, platformPackage, 'rhizome.node')
  if (path === undefined) {
    throw new AddonMissing(
      `The native addon is missing. In a checkout run: npm run setup. Elsewhere: install ${platformPackage}, an optional dependency of this package; where there is none, build from a checkout`,
    )
  }
  let loaded: object
  try {
    loaded = require(path) as object
  } catch (error) {
    throw new AddonMissing(
      `The native addon ${path} does not load (${messageOf(error)}). In a checkout run: npm run setup`,
    )
  }
  const addon = guarded(loaded)
  settleWithinBudget(addon)
  return addon
}

/** Settles the promises of finished executions of this thread, a few at a time within its budget. */
function settleWithinBudget(addon: Addon): void {
  const settle = (): void => {
    if (addon.settleAnswers()) void eventLoopBudget.later('answers', settle)
  }
  addon.onAnswers(() => void eventLoopBudget.later('answers', settle))
}

/** Wraps each exported function to convert its errors. */
export function guarded(loaded: object): Addon {
  const wrapped = Object.entries(loaded).map(([name, value]) => {
    return [name, typeof value === 'function' ? guard(value as (...parameters: unknown[]) => unknown) : value]
  })
  // V8 makes a dictionary of an object that grows by many names, which is slower to read.
  return Object.fromEntries(wrapped) as Addon
}

function guard(call: (...parameters: unknown[]) => unknown): (...parameters: unknown[]) => unknown {
  return (...parameters) => {
    let result: unknown
    try {
      result = call(...parameters)
    } catch (error) {
      throw toRpcError(error)
    }
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      throw toRpcError(error)
    })
  }
}

/** Errors of the addon carry `{code, message, data, hint, cause}` as JSON in their message; the cause is for the log. */
function toRpcError(error: unknown): Error {
  const text = messageOf(error)
  if (text.startsWith('{')) {
    try {
      const { code, message, data, hint, cause } = JSON.parse(text) as Record<string, unknown>
      if (typeof code === 'number' && typeof message === 'string') {
        const refusal = new RpcError(code, message, data, typeof hint === 'string' ? hint : undefined)
        if (code === codes.limitReached || code === codes.unwritable)
          Object.assign(refusal, { httpStatus: 503, retryAfterSeconds: 1 })
        refusal.defect = typeof cause === 'string' ? cause : undefined
        return refusal
      }
    } catch {
      // Not an error of the addon: falls through to a defect.
    }
  }
  return new NativeDefect(text)
}

/** Defect of the core. Appears in the log only; the client gets an internal error. */
export class NativeDefect extends Error {
  override name = 'NativeDefect'
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
