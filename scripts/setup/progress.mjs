/** Progress of several pieces of work that run at the same time, each with the seconds that it takes alone. */
export class Progress {
  #parts = new Map()
  #started
  #now

  constructor(now = () => performance.now()) {
    this.#now = now
    this.#started = now()
  }

  /** Adds a piece of work; returns a function to report its finished fraction. */
  add(name, seconds) {
    const part = { name, seconds, done: 0 }
    this.#parts.set(name, part)
    return (done) => {
      part.done = Math.max(part.done, done)
    }
  }

  /** Returns e.g. `43 %, about 4 min left (RocksDB)`, with the unfinished parts in brackets. */
  toString() {
    const parts = [...this.#parts.values()]
    const all = parts.reduce((sum, { seconds }) => sum + seconds, 0)
    const done = parts.reduce((sum, part) => sum + part.seconds * part.done, 0) / all
    const running = parts.filter((part) => part.done > 0 && part.done < 1).map(({ name }) => name)
    const where = running.length === 0 ? '' : ` (${running.join(', ')})`
    if (done < 0.05) return `${Math.floor(done * 100)} %${where}`
    const left = (((this.#now() - this.#started) / 1000) * (1 - done)) / done
    return `${Math.floor(done * 100)} %, about ${left < 90 ? `${Math.ceil(left / 10) * 10} s` : `${Math.round(left / 60)} min`} left${where}`
  }
}
