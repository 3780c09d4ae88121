const mostFilters = 1000
const mostEnds = 8

/** Polls of this node that failed while they advanced their filter: the store may have advanced it without a reply. */
export class UnsurePolls {
  readonly #polls = new Map<string, { readonly from: string; readonly ends: readonly string[] }>()

  /** Records a poll that read from `from` and may have advanced the filter to `end`. */
  add(id: string, from: string, end: string): void {
    const before = this.#polls.get(id)
    const ends = before?.from === from ? before.ends.slice(1 - mostEnds) : []
    this.#polls.delete(id)
    this.#polls.set(id, { from, ends: [...ends, end] })
    const [oldest] = this.#polls.keys()
    if (this.#polls.size > mostFilters && oldest !== undefined) this.#polls.delete(oldest)
  }

  /** Returns the start of the next poll if the filter is at `seen`. */
  startOf(id: string, seen: string): string {
    const poll = this.#polls.get(id)
    return poll?.ends.includes(seen) === true ? poll.from : seen
  }

  forget(id: string): void {
    this.#polls.delete(id)
  }
}
