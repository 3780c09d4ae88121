import { outputOf, SetupError } from '../setup/run.mjs'

/** Files about the phrases themselves. */
const exempt = ['scripts/prose/', 'docs/contributing/prose.md']

/** Tracked and new files in `paths`, or of the whole project; without those that quote refused phrases. */
export function projectFiles(root, paths = []) {
  const listed = outputOf('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths], {
    cwd: root,
    maxBuffer: 2 ** 26,
  })
  if (listed === undefined) throw new SetupError('git ls-files failed')
  return listed.split('\n').filter((path) => path !== '' && !exempt.some((prefix) => path.startsWith(prefix)))
}
