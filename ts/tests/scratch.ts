import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** All files of a run, those of the programs that it starts too, go into one folder, which goes away with it. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'rhizome-tests-'))
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
