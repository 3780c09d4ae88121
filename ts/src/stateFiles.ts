import { ConfigError } from './config/error.ts'
import type { Addon } from './native/bindings.ts'

/** Files with the accounts of a development network, in the format of anvil. */
export interface StateFiles {
  /** Loaded at the start; it may be absent if it is also saved. */
  readonly load: string | undefined
  /** Written at the end. */
  readonly save: string | undefined
  /** Seconds between two further writes; undefined for none. */
  readonly intervalSeconds: number | undefined
}

/** Flags of `rhizome start`. */
export interface StateFlags {
  readonly state?: string | undefined
  readonly loadState?: string | undefined
  readonly dumpState?: string | undefined
  readonly stateInterval?: string | undefined
}

/** Reads the flags. `isAllowed`: for a development network with its own genesis block and no fleet. Throws ConfigError. */
export function stateFilesOf(flags: StateFlags, isAllowed: boolean, hasDataDir: boolean): StateFiles {
  const { state, loadState, dumpState, stateInterval } = flags
  const problems: string[] = []
  const given = [
    ...(state === undefined ? [] : ['--state']),
    ...(loadState === undefined ? [] : ['--load-state']),
    ...(dumpState === undefined ? [] : ['--dump-state']),
  ]
  if (given.length > 0 && !isAllowed)
    problems.push(`${given[0]}: only for development networks, not for forks and fleets`)
  if (state !== undefined && given.length > 1) problems.push(`--state: cannot be combined with ${given[1]}`)
  const load = state ?? loadState
  if (load !== undefined && hasDataDir) {
    problems.push(`${given[0]}: cannot be combined with --data-dir: each run begins with the state of the file`)
  }
  const save = state ?? dumpState
  const isInterval = stateInterval === undefined || /^[1-9]\d{0,5}$/.test(stateInterval)
  if (!isInterval)
    problems.push(`--state-interval: expected seconds, 1 to 999999, got ${JSON.stringify(stateInterval)}`)
  if (stateInterval !== undefined && save === undefined) {
    problems.push('--state-interval: needs --state or --dump-state')
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return { load, save, intervalSeconds: stateInterval === undefined ? undefined : Number(stateInterval) }
}

/** Loads the state of the start. Rejects if there is no file, unless it is also saved. */
export async function loadState(native: Addon, { load, save }: StateFiles): Promise<void> {
  if (load === undefined) return
  const answer = await native.loadStateFile(load)
  if (answer.toString() === 'null' && load !== save) throw new ConfigError([`--load-state: there is no file ${load}`])
}

/** Saves the state of a running node, at an interval and at the end. */
export class StateSaver {
  readonly #native: Addon
  readonly #file: string
  readonly #onError: (error: Error) => void
  readonly #timer: NodeJS.Timeout | undefined
  #saving: Promise<boolean> | undefined

  constructor(native: Addon, file: string, intervalSeconds: number | undefined, onError: (error: Error) => void) {
    this.#native = native
    this.#file = file
    this.#onError = onError
    if (intervalSeconds === undefined) return
    this.#timer = setInterval(() => {
      this.#saving ??= this.#save().finally(() => {
        this.#saving = undefined
      })
    }, intervalSeconds * 1000).unref()
  }

  /** Saves a last time. Resolves with false if that failed. */
  async end(): Promise<boolean> {
    clearInterval(this.#timer)
    await this.#saving
    return this.#save()
  }

  async #save(): Promise<boolean> {
    try {
      await this.#native.saveStateFile(this.#file)
      return true
    } catch (error) {
      this.#onError(error as Error)
      return false
    }
  }
}
