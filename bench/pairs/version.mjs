// A build of another commit: a worktree of git in the cache folder, kept for later runs.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from '../../scripts/setup/libclang.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Builds `commit` if the cache lacks it. Returns `{ name, program }`. Throws if the commit does not exist or does not build. */
export function buildVersion(commit, say) {
  const git = (...parameters) => execFileSync('git', parameters, { cwd: root, encoding: 'utf8' }).trim()
  const hash = git('rev-parse', '--verify', `${commit}^{commit}`).slice(0, 12)
  const folder = join(cacheFolder(), 'versions', hash)
  if (!existsSync(join(folder, 'package.json'))) {
    mkdirSync(dirname(folder), { recursive: true })
    // Forgets worktrees whose folder was deleted.
    git('worktree', 'prune')
    git('worktree', 'add', '--detach', folder, hash)
  }
  say(`building ${hash} in ${folder}; remove it with: git worktree remove --force ${folder}`)
  execFileSync(process.execPath, [join(folder, 'scripts/setup.mjs')], { cwd: folder, stdio: ['ignore', 2, 2] })
  return { name: hash, program: join(folder, 'ts/rhizome.mjs') }
}
