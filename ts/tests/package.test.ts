import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratchFolder } from './node.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What a machine has that only runs the node: Node.js and the programs that npm itself needs. */
function pathWithoutCompilers(folder: string): string {
  const place = join(folder, 'bin')
  mkdirSync(place)
  const own = dirname(process.execPath)
  for (const name of ['node', 'npm', 'npx']) symlinkSync(join(own, name), join(place, name))
  for (const name of ['sh', 'env']) symlinkSync(`/bin/${name}`, join(place, name))
  return place
}

test.skipIf(process.platform === 'win32')(
  'behavior: the packages install and run in an empty folder, with neither Rust nor a compiler on the path',
  async () => {
    const folder = scratchFolder()
    const packages = join(folder, 'packages')
    execFileSync(process.execPath, [join(root, 'scripts/release/pack.mjs'), '--out', packages], { stdio: 'ignore' })
    const files = readdirSync(packages).map((name) => join(packages, name))
    expect(files).toHaveLength(2)

    const project = join(folder, 'project')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{"private": true}')
    const env = { PATH: pathWithoutCompilers(folder), HOME: process.env.HOME }
    const show = (command: string, ...parameters: string[]): string =>
      execFileSync(command, parameters, {
        cwd: project,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trim()
    show('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...files)
    expect(() => show('cargo', '--version')).toThrow('ENOENT')

    const manifest = JSON.parse(show('node', '-p', 'JSON.stringify(require("rhizome/package.json"))'))
    expect(show('npx', 'rhizome', '--version')).toBe(manifest.version)
    const verify = 'import("rhizome/verify").then((module) => console.log(Object.keys(module).length > 0))'
    expect(show('node', '-e', verify)).toBe('true')
    expect(await firstAnswer(project, env)).toBe('0x21')
  },
  300_000,
)

/** Starts the installed node and asks it for its chain id. */
async function firstAnswer(cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const bin = join(cwd, 'node_modules/.bin/rhizome')
  const child = spawn(bin, ['start', '--json', '--ephemeral', '--http-port', '0'], { cwd, env, stdio: 'pipe' })
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let output = ''
      child.stdout.on('data', (bytes) => {
        output += bytes
        if (output.includes('\n')) resolve((JSON.parse(output) as { url: string }).url)
      })
      child.on('close', () => reject(new Error('the node ended before it answered')))
    })
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
    const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return ((await reply.json()) as { result: string }).result
  } finally {
    child.kill()
  }
}
