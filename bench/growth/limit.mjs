// Limits of memory for a command: systemd, or a control group below that of this process.
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from '../../scripts/setup/run.mjs'

const groups = '/sys/fs/cgroup'
/** Writes its process id into a file, then becomes the command. */
const enter = ['sh', '-c', 'echo $$ > "$0" && exec "$@"']

/**
 * Returns `{ command, remove }`: the words before a command that limit its memory, page cache included, and the removal of the
 * limit after its end. Returns `{ reason }` if the machine does not allow limits.
 */
export function limitMemory(megabytes) {
  const bytes = `${megabytes * 2 ** 20}`
  const attempts = [
    () => ofSystemd(megabytes),
    () => ofGroup(groupOf(''), 'memory.max', bytes),
    () => ofGroup(groupOf('memory'), 'memory.limit_in_bytes', bytes),
  ]
  const reasons = []
  for (const attempt of attempts) {
    try {
      return attempt()
    } catch (error) {
      reasons.push(error.message)
    }
  }
  return { reason: reasons.join('; ') }
}

function ofSystemd(megabytes) {
  if (!/running|degraded/.test(outputOf('systemctl', ['is-system-running']) ?? '')) throw new Error('no systemd')
  const user = process.getuid() === 0 ? [] : ['--user']
  const properties = ['-p', `MemoryMax=${megabytes}M`, '-p', 'MemorySwapMax=0']
  return { command: ['systemd-run', ...user, '--quiet', '--scope', ...properties], remove: () => undefined }
}

/** Returns the folder of the control group of this process; `controller` is empty for version 2. */
function groupOf(controller) {
  const line = new RegExp(`^\\d+:${controller}:(.*)$`, 'm').exec(readFileSync('/proc/self/cgroup', 'utf8'))
  if (line === null) throw new Error(`no control group of ${controller || 'version 2'}`)
  return join(groups, controller, line[1])
}

function ofGroup(parent, setting, bytes) {
  const folder = join(parent, `rhizome-bench-${process.pid}`)
  mkdirSync(folder)
  try {
    writeFileSync(join(folder, setting), bytes, { flag: 'r+' })
  } catch (error) {
    rmdirSync(folder)
    throw error
  }
  return { command: [...enter, join(folder, 'cgroup.procs')], remove: () => rmdirSync(folder) }
}
