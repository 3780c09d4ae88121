// Everything that a build fetches by name must be pinned by content: actions by commit, images by digest. Files that
// npm, cargo and set-up fetch have their hashes in package-lock.json, Cargo.lock and scripts/setup/libclang.mjs.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { platforms } from './release/platforms.mjs'

/** Returns problems as lines. */
export function checkPins(root) {
  const read = (path) => readFileSync(join(root, path), 'utf8')
  const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`)
  return [
    ...workflows.flatMap((path) => [...actionProblems(path, read(path)), ...imageProblems(path, read(path))]),
    ...imageProblems('docs/deploy/Dockerfile', read('docs/deploy/Dockerfile')),
    ...imageProblems('docs/deploy/compose.yaml', read('docs/deploy/compose.yaml')),
    ...imageProblems('docs/deploy/fleet/compose.yaml', read('docs/deploy/fleet/compose.yaml')),
    ...platforms
      .filter(({ container }) => container !== '' && !hasDigest(container))
      .map(({ name, container }) => `scripts/release/platforms.mjs: ${name}: ${container} has no digest`),
  ]
}

/** Returns actions of a workflow that are not pinned by a commit with the version as a comment. */
export function actionProblems(path, text) {
  return [...text.matchAll(/^.*\buses:\s*(.*)$/gm)]
    .filter(([, name]) => !/^[\w./-]+@[0-9a-f]{40} # v[\d.]+$/.test(name))
    .map(([, name]) => `${path}: ${name} is not pinned: name the commit, and the version as a comment`)
}

/** Returns images of a Dockerfile, a compose file or a workflow that are not pinned by a digest. Build stages of the file need none. */
export function imageProblems(path, text) {
  const stages = [...text.matchAll(/^FROM .* AS (\S+)$/gim)].map(([, name]) => name)
  const images = [
    ...text.matchAll(
      /^FROM (?:--\S+ )*(\S+)|--from=(\S+)|\bfrom=(\w[^,\s]*)|^[ \t]*(?:- )?(?:image|container):[ \t]*(\S+)/gim,
    ),
  ]
  return images
    .map(([, ...found]) => found.find((name) => name !== undefined))
    .filter((name) => !stages.includes(name) && !hasDigest(name) && !name.startsWith('$'))
    .map((name) => `${path}: ${name} has no digest`)
}

function hasDigest(name) {
  return /@sha256:[0-9a-f]{64}$/.test(name)
}
