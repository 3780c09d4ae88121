// npm run lint -- --sample SEED: the comments of 20 files, drawn by the seed, and the checklist to judge them by.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { proseOf } from './comments.mjs'
import { projectFiles } from './files.mjs'

const drawn = 20

/** The checklist of docs/contributing/prose.md, then the prose of each drawn file with line numbers. */
export function sampleText(root, seed) {
  const rank = (path) => createHash('sha256').update(`${seed} ${path}`).digest('hex')
  const files = projectFiles(root)
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, blocks: proseOf(path, readFileSync(join(root, path), 'utf8')) ?? [], rank: rank(path) }))
    .filter(({ blocks }) => blocks.length > 0)
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, drawn)
  const prose = readFileSync(join(root, 'docs/contributing/prose.md'), 'utf8')
  const checklist = /## Checklist\n\n([\s\S]*?)\n\n/.exec(prose)?.[1]
  const sections = files.map(({ path, blocks }) =>
    [path, ...blocks.map(({ line, text }) => numbered(line, text))].join('\n'),
  )
  return `${[checklist, ...sections].join('\n\n')}\n`
}

function numbered(line, text) {
  return text
    .split('\n')
    .map((one, index) => `${String(line + index).padStart(6)}  ${one}`)
    .join('\n')
}
