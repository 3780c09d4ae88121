import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { scratchFolder } from './node.ts'

/** The repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A project in which Hardhat runs. */
export interface Project {
  /** The program of Hardhat. */
  readonly program: string
  readonly folder: string
  /** The Node.js that runs the command. Absent: that of the tests. */
  readonly node?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Result of a command. */
export interface Ran {
  readonly code: number | null
  readonly lines: readonly string[]
  readonly errors: string
}

/** Runs a command of Hardhat against a node. `onLine` gets each line of its output. */
export async function runHardhat(
  { program, folder, node = process.execPath, env = {} }: Project,
  url: string,
  command: readonly string[],
  onLine?: (line: string) => Promise<void>,
): Promise<Ran> {
  const child = spawn(node, [program, ...command], {
    cwd: folder,
    env: {
      ...process.env,
      CI: 'true',
      NO_COLOR: '1',
      HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
      RPC_URL: url,
      HARDHAT_OUTPUT: scratchFolder(),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  let errors = ''
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    await onLine?.(line)
  }
  return { code: await code, lines, errors }
}
