// Fingerprints of the inputs of each build step, so that a second start builds nothing.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns a hash of the contents of files and folders, without those named in `except`. */
export function fingerprint(root, paths, except = []) {
  const hash = createHash('sha256')
  const visit = (path) => {
    const full = join(root, path)
    if (!existsSync(full) || except.includes(path.split('/').at(-1))) return
    const entries = directoryEntries(full)
    if (entries === undefined) hash.update(`${path}\0`).update(readFileSync(full)).update('\0')
    else for (const name of entries.sort()) visit(`${path}/${name}`)
  }
  for (const path of paths) visit(path)
  return hash.digest('hex')
}

function directoryEntries(path) {
  try {
    return readdirSync(path)
  } catch {
    return undefined
  }
}

/** Fingerprints by name, stored in one file. */
export class Stamps {
  #path
  #known

  constructor(path) {
    this.#path = path
    this.#known = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  }

  isCurrent(name, value) {
    return this.#known[name] === value
  }

  set(name, value) {
    this.#known[name] = value
    mkdirSync(dirname(this.#path), { recursive: true })
    writeFileSync(this.#path, JSON.stringify(this.#known, undefined, 2))
  }
}
