/** Places that all clients share. One client takes at most half of them, so that others find one. */
export class Places {
  /** Number of places of one client. */
  readonly share: number
  readonly #maximum: number
  readonly #taken = new Map<string, number>()
  #all = 0

  constructor(maximum: number) {
    this.share = Math.ceil(maximum / 2)
    this.#maximum = maximum
  }

  get isFull(): boolean {
    return this.#all >= this.#maximum
  }

  /** Takes a place, until `free`. Returns false if all are taken, or this client has its share. */
  take(client: string): boolean {
    const taken = this.#taken.get(client) ?? 0
    if (this.isFull || taken >= this.share) return false
    this.#taken.set(client, taken + 1)
    this.#all++
    return true
  }

  free(client: string): void {
    const left = (this.#taken.get(client) ?? 0) - 1
    if (left > 0) this.#taken.set(client, left)
    else this.#taken.delete(client)
    this.#all--
  }
}
