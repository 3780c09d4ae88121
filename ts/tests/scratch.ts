import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Puts all files of a run, also those of programs that it starts, into one folder and deletes it at the end. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-tests-'))
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
