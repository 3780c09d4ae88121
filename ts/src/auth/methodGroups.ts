/** The wire names of the methods there are: what an entry of an allow list means. */
export class MethodGroups {
  readonly #groups: readonly (readonly string[])[]

  /** Each group has all names of one method: they have the same rights. */
  constructor(groups: readonly (readonly string[])[]) {
    this.#groups = groups
  }

  /** All names of the methods that a list of names and `group_*` means. */
  namesOf(list: readonly string[]): ReadonlySet<string> {
    const names = new Set(list.filter((entry) => !entry.endsWith('*')))
    const prefixes = list.filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1))
    const isListed = (name: string) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
    return new Set(this.#groups.filter((group) => group.some(isListed)).flat())
  }
}
