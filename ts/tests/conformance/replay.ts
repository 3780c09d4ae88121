import { join } from 'node:path'
import { isTree, short } from './compare.ts'
import { HostedNode } from './hostedNode.ts'
import { KnownFailures } from './knownFailures.ts'
import { type Verdict, verdictOf } from './report.ts'
import { Scene } from './scene.ts'
import { settingsFor } from './settings.ts'
import { type FileEntry, type Step, Transcripts } from './transcript.ts'

/** Files that run on one node, in order. */
export interface Group {
  readonly entries: readonly FileEntry[]
}

/** Replays transcripts against real nodes: one for each group of files. */
export class Replay {
  readonly groups: readonly Group[]
  readonly #root: string
  readonly #transcripts: Transcripts
  readonly #known: KnownFailures

  /** `root` is the folder of the project, `folder` that of the transcripts. */
  constructor(root: string, folder: string) {
    this.#root = root
    this.#transcripts = new Transcripts(folder)
    this.#known = new KnownFailures(join(root, 'tests/vectors/known-failures.yaml'))
    this.groups = groupsOf(this.#transcripts.index.files)
  }

  /** Runs the files of a group and calls `report` after each case. */
  async run(group: Group, report: (verdict: Verdict) => void): Promise<void> {
    const [first] = group.entries
    if (first === undefined) return
    const { profiles, miner } = this.#transcripts.index
    const settings = settingsFor(profiles[first.profile] ?? '', miner.extraData, first.settings)
    const node = await HostedNode.start(this.#root, settings)
    const scene = new Scene(node, this.#transcripts)
    try {
      if (first.start.startsWith('import ')) {
        const failure = await scene.importFiles(first.start.match(/[\w.-]+\.blocks/g) ?? [])
        report(verdictOf(this.#known, first.file, 'import', first.start, failure))
      }
      for (const entry of group.entries) {
        for (const step of this.#transcripts.steps(entry.file)) {
          if (step.kind === 'observation') continue
          const failure = await scene.run(entry, step)
          report(verdictOf(this.#known, entry.file, String(step.n), titleOf(step), failure))
        }
      }
    } finally {
      await scene.stop()
    }
    const defects = node.log.includes('internal error')
      ? { what: 'log', expected: 'no defects', got: node.log }
      : undefined
    if (defects !== undefined) report(verdictOf(this.#known, first.file, 'log', 'of the node', defects))
  }
}

/** A file that continues another file runs on the same node; files of reads over the same blocks share a node. */
function groupsOf(files: readonly FileEntry[]): Group[] {
  const groups: FileEntry[][] = []
  for (const entry of files) {
    const isSame = (other: FileEntry): boolean =>
      entry.mode === 'reads' && other.mode === 'reads' && other.start === entry.start && other.profile === entry.profile
    const before = groups.find((group) =>
      group.some((other) => entry.start === `continues ${other.file}` || isSame(other)),
    )
    if (before === undefined) groups.push([entry])
    else before.push(entry)
  }
  return groups.map((entries) => ({ entries }))
}

function titleOf(step: Step): string {
  const { request } = step
  if (isTree(request) && 'method' in request) return `${request.method} ${short(request.params).slice(0, 80)}`
  return `${step.kind} ${(step.note ?? '').slice(0, 80)}`
}
