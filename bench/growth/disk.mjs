// Files of a data directory: sizes by kind, and removal from the page cache.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'

/** Property of a table of RocksDB; the next one is the name of its column. */
const columnProperty = Buffer.from('column.family.id')
/** The properties are near the end of a table. */
const tailBytes = 1 << 16

/** Returns the bytes of a data directory by kind: a column of the database, or a folder and an extension of other files. */
export function diskByKind(dataDir) {
  const kinds = {}
  for (const file of filesIn(dataDir)) {
    const size = statSync(file).blocks * 512
    const kind = kindOf(file)
    kinds[kind] = (kinds[kind] ?? 0) + size
  }
  return kinds
}

/** Returns all bytes of a data directory, which may be in use. */
export function diskBytes(dataDir) {
  return filesIn(dataDir).reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512, 0)
}

function kindOf(file) {
  const extension = extname(file)
  // Rows of the history are written as files outside of the database, which have no name of a column.
  if (extension === '.sst') return `column ${columnOf(file) || 'history'}`
  if (extension === '.log') return 'write-ahead log'
  const folder = basename(dirname(file))
  return extension === '' || folder === 'chain' ? 'other files' : `${folder}/*${extension}`
}

function columnOf(file) {
  const handle = openSync(file, 'r')
  try {
    const size = statSync(file).size
    const tail = Buffer.alloc(Math.min(size, tailBytes))
    readSync(handle, tail, 0, tail.length, size - tail.length)
    const at = tail.lastIndexOf(columnProperty)
    if (at < 1) return 'unknown'
    // A property: bytes of its key shared with the one before, other bytes of the key, bytes of the value; key; value.
    const isWhole = tail[at - 1] === '.'.charCodeAt(0)
    const header = at - (isWhole ? 'rocksdb.'.length : 0) - 1
    const next = at + columnProperty.length + tail[header]
    const value = next + 3 + tail[next + 1]
    return tail.toString('utf8', value, value + tail[next + 2])
  } finally {
    closeSync(handle)
  }
}

function filesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Reads the files of a data directory into the page cache. */
export function warmPages(dataDir) {
  execFileSync('cat', filesIn(dataDir), { stdio: 'ignore' })
}

/**
 * Drops the pages of a data directory from the page cache, and nothing else: other programs keep theirs. No process may have the
 * files mapped.
 */
export function dropPages(dataDir) {
  execFileSync('sync', ['--file-system', dataDir])
  // For an empty range dd drops the whole file.
  for (const file of filesIn(dataDir))
    execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'], { stdio: 'ignore' })
}
