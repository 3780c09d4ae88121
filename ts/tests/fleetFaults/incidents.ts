import type { Part } from './fleetProcesses.ts'

/** Time in which this process learns of an end or of a failure. */
const noticeMs = 50
/** Time after which a balancer that was started takes connections. */
const listenMs = 200

interface Incident {
  readonly name: string
  readonly from: number
  /** When its process had ended: until then the system keeps its sockets. Infinite before. */
  ended: number
  /** When the part was started again; infinite before. */
  to: number
}

/** Kills with their times, in milliseconds of `performance.now()`, and the faults that were found. */
export class Incidents {
  readonly faults: string[] = []
  readonly #list: Incident[] = []
  readonly #stale = new Map<string, { count: number; blocks: number; from: number; to: number }>()
  readonly #began = performance.now()

  /** Kills a part. Returns a function that starts it again. */
  async kill(name: string, part: Part): Promise<() => Promise<void>> {
    const never = Number.POSITIVE_INFINITY
    const incident: Incident = { name, from: performance.now(), ended: never, to: never }
    this.#list.push(incident)
    await part.kill()
    incident.ended = performance.now()
    this.tell(`killed ${name}, which ended after ${Math.round(incident.ended - incident.from)} ms`)
    return async () => {
      await part.start()
      incident.to = performance.now()
      this.tell(`started ${name}`)
    }
  }

  /** Returns the name of the part whose kill a failed request may be due to. */
  causeOf(sent: number, failed: number): string | undefined {
    const isCause = ({ name, from, ended, to }: Incident) =>
      failed >= from && sent <= (name === 'haproxy' ? to + listenMs : ended + noticeMs)
    return this.#list.find(isCause)?.name
  }

  /** Returns whether a part is down, or was killed or started less than `ms` ago. */
  isNear(name: string, ms: number, at = performance.now()): boolean {
    return this.#list.some((one) => one.name === name && at >= one.from && at <= one.to + ms)
  }

  /** Records an answer that lacked a head by a number of blocks. */
  stale(at: number, blocks: number): void {
    const { text, ms } = this.#before(at)
    const one = this.#stale.get(text) ?? { count: 0, blocks: 0, from: ms, to: ms }
    const [from, to] = [Math.min(one.from, ms), Math.max(one.to, ms)]
    this.#stale.set(text, { count: one.count + 1, blocks: Math.max(one.blocks, blocks), from, to })
  }

  /** Describes the recorded stale answers. */
  get staleAnswers(): string[] {
    return [...this.#stale].map(
      ([text, { count, blocks, from, to }]) =>
        `${count} stale answers, at most ${blocks} blocks behind, ${Math.round(from)} to ${Math.round(to)} ms after the ${text}`,
    )
  }

  /** Returns the last change of a part before a time, and the time since then. */
  #before(at: number): { text: string; ms: number } {
    const changes = this.#list.flatMap(({ name, from, to }) => [
      { text: `kill of ${name}`, at: from },
      { text: `start of ${name}`, at: to },
    ])
    const last = changes.filter((one) => one.at <= at).sort((a, b) => b.at - a.at)[0]
    return { text: last?.text ?? 'begin', ms: at - (last?.at ?? this.#began) }
  }

  fault(text: string, at = performance.now()): void {
    const { text: change, ms } = this.#before(at)
    const whole = `${text} (${Math.round(ms)} ms after the ${change})`
    this.faults.push(whole)
    // A fault is followed by many that it causes.
    if (this.faults.length <= 20) this.tell(`FAULT: ${whole}`)
  }

  tell(text: string): void {
    process.stdout.write(`fleet: ${((performance.now() - this.#began) / 1000).toFixed(1)} s: ${text}\n`)
  }
}
