import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StoreError } from './store.ts'

/** Reads a file; returns undefined if there is none. Throws StoreError. */
export async function readWhole(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new StoreError(`${path}: cannot be read (${codeOf(error)})`)
  }
}

/**
 * Replaces a file that only its owner can read. The text is synced before the rename, so a crash leaves the old file or
 * the new one. Throws StoreError.
 */
export async function replaceWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`
  try {
    await mkdir(dirname(path), { recursive: true })
    await rm(fresh, { force: true })
    const file = await open(fresh, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, path)
    await syncFolder(dirname(path))
  } catch (error) {
    throw new StoreError(`${path}: cannot be written (${codeOf(error)})`)
  }
}

/** Syncs the entries of a folder, so that a rename survives a crash. Windows writes them to its journal. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Returns the code of a system error, e.g. `ENOENT`. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT'
}
