import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { makeCertificate } from './certificate.ts'
import { keys } from './contract.ts'
import { NodeProcess, runCommand, runProgram, scratchFolder } from './node.ts'

const first = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const other = '0x00000000000000000000000000000000000000fe'

describe('start and end', () => {
  test('behavior: the chain survives a restart', async () => {
    const flags = ['--data-dir', join(scratchFolder(), 'data')]
    const before = await NodeProcess.start(flags)
    await before.result('eth_sendTransaction', [{ from: first, to: other, value: '0x64' }])
    await before.result('evm_mine')
    const head = await before.result<{ hash: string }>('eth_getBlockByNumber', ['latest'])
    expect(await before.stop()).toBe(0)

    const after = await NodeProcess.start(flags)
    expect(await after.result('eth_blockNumber')).toBe('0x2')
    expect(await after.result('eth_getBlockByNumber', ['latest'])).toEqual(head)
    expect(await after.result('eth_getBalance', [other])).toBe('0x64')
    await after.result('eth_sendTransaction', [{ from: first, to: other, value: '0x64' }])
    expect(await after.result('eth_getBalance', [other])).toBe('0xc8')
    expect(await after.stop('SIGTERM')).toBe(0)
  })

  test('behavior: Ctrl-C ends a busy node', async () => {
    const node = await NodeProcess.start(['--workers', '2'])
    let answered = 0
    const load = Array.from({ length: 20 }, async () => {
      try {
        for (;;) {
          await node.ask('eth_getBlockByNumber', ['latest', true])
          answered++
        }
      } catch {
        // The node has stopped.
      }
    })
    await expect.poll(() => answered, { timeout: 5000 }).toBeGreaterThan(20)
    expect(await node.stop()).toBe(0)
    await Promise.all(load)
  })

  test('behavior: a node that mines without a pause ends without an error, each time', async () => {
    for (let round = 0; round < 10; round++) {
      const node = await NodeProcess.start(['--mining', 'interval=0.005', '--workers', '1'])
      await expect.poll(async () => Number(await node.result('eth_blockNumber'))).toBeGreaterThan(5)
      expect(await node.stop(), node.errors).toBe(0)
    }
  }, 60_000)

  test('behavior: rsk_shutdown is answered, then the node ends', async () => {
    const node = await NodeProcess.start(['--workers', '2'], 'modules.rsk.deny = []\n')
    expect(await node.result('rsk_flush')).toBeNull()
    // A running request ends with an answer, or with the connection.
    const running = node.ask('eth_call', [{ data: '0x5b600056' }, 'latest']).catch(() => undefined)
    expect(await node.result('chain_shutdown')).toBeNull()
    expect(await node.ended).toBe(0)
    await running
    expect(node.errors).toBe('')
  })

  test('behavior: a repeated signal counts once', async () => {
    const node = await NodeProcess.start()
    await node.result('eth_blockNumber')
    node.child.kill('SIGINT')
    expect(await node.stop()).toBe(0)
    expect(node.errors).toBe('')
  })

  test('behavior: an idle node takes less than 150 MB', async () => {
    const node = await NodeProcess.start(['--workers', '2'])
    await node.result('eth_blockNumber')
    await new Promise((resolve) => setTimeout(resolve, 500))
    const status = readFileSync(`/proc/${node.child.pid}/status`, 'utf8')
    const residentKb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
    await node.stop()
    expect(residentKb / 1024).toBeLessThan(150)
  })

  test.runIf(process.platform === 'linux')('behavior: threads of executors are 5 nicer than the process', async () => {
    const node = await NodeProcess.start(['--workers', '1'], undefined, { before: ['nice', '-n', '7'] })
    const tasks = `/proc/${node.child.pid}/task`
    const nicenessOf = (task: string | undefined): number => {
      const stat = readFileSync(`${tasks}/${task}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
    }
    const nameOf = (task: string): string => readFileSync(`${tasks}/${task}/comm`, 'utf8').trim()
    const threads = (): Map<string, string> => new Map(readdirSync(tasks).map((task) => [nameOf(task), task]))
    // A thread names itself, which a busy machine delays.
    const wanted = ['rhizome-pool-0', 'rhizome-trace-0', 'rhizome-work-0']
    await expect.poll(() => [...threads().keys()], { timeout: 10_000 }).toEqual(expect.arrayContaining(wanted))
    const names = threads()
    const main = nicenessOf(String(node.child.pid))
    expect(main).toBeGreaterThanOrEqual(7)
    for (const name of ['rhizome-pool-0', 'rhizome-trace-0']) {
      expect(nicenessOf(names.get(name))).toBe(Math.min(19, main + 5))
    }
    expect(nicenessOf(names.get('rhizome-work-0'))).toBe(main)
    await node.stop()
  })

  test('behavior: the banner shows network, address, accounts and keys', async () => {
    const { output, stop } = await interactive(['start', '--ephemeral', '--http-port', '0'])
    await expect.poll(output, { timeout: 10_000 }).toContain('JSON-RPC  http://127.0.0.1:')
    for (const part of ['regtest, chain id 33', 'block     0 (0x', first, `key ${keys[0]}`, '1000000000000 RBTC']) {
      expect(output()).toContain(part)
    }
    expect(await stop()).toBe(0)
    expect(output()).toContain('Stopped.')
  })
})

test('behavior: a program starts a node, uses it and ends', async () => {
  const script = `
    import { startNode, ConfigError } from '@rhizome-node/rhizome'
    const node = await startNode({ ephemeral: true, http: { port: 0, workers: 1 }, log: { level: 'silent' } })
    const body = '{"id":1,"method":"eth_chainId"}'
    const answer = await fetch(node.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    process.stdout.write(await answer.text())
    await node.stop()
    try {
      await startNode({ http: { port: -1 } })
    } catch (error) {
      process.stdout.write(String(error instanceof ConfigError))
    }`
  const { output } = await runProgram(['--input-type=module', '--eval', script])
  expect(output).toBe('{"jsonrpc":"2.0","id":1,"result":"0x21"}true')
})

describe('failing starts', () => {
  const attempt = (...flags: string[]) => runCommand(['start', '--ephemeral', ...flags])

  test('error: a busy port', async () => {
    const occupant = createServer()
    const port = await new Promise<number>((resolve) => {
      occupant.listen(0, '127.0.0.1', () => resolve((occupant.address() as { port: number }).port))
    })
    const { code, errors } = await attempt('--http-port', String(port))
    occupant.close()
    expect([code, errors]).toEqual([
      1,
      `rhizome: port ${port} on 127.0.0.1 is in use; choose another with --http-port\n`,
    ])
  })

  test('error: a port that another node serves', async () => {
    const node = await NodeProcess.start()
    const { code, errors } = await attempt('--http-port', new URL(node.url).port)
    await node.stop()
    expect([code, errors.includes('is in use')]).toEqual([1, true])
  })

  test('error: a data directory that cannot be made', async () => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'file'), '')
    const { code, errors } = await runCommand(['start', '--http-port', '0', '--data-dir', join(folder, 'file', 'data')])
    expect(code).toBe(1)
    expect(errors).toContain(join(folder, 'file'))
  })

  test.skipIf(process.getuid?.() === 0)('error: a data directory that may not be written', async () => {
    const folder = scratchFolder()
    mkdirSync(join(folder, 'data'))
    chmodSync(join(folder, 'data'), 0o500)
    const { code, errors } = await runCommand(['start', '--http-port', '0', '--data-dir', join(folder, 'data')])
    expect(code).toBe(1)
    expect(errors).toContain(join(folder, 'data'))
  })

  test('error: a data directory that is in use, or of another network', async () => {
    const folder = join(scratchFolder(), 'data')
    const node = await NodeProcess.start(['--data-dir', folder])
    const inUse = await runCommand(['info', '--data-dir', folder])
    await node.stop()
    expect(inUse.code).toBe(1)
    expect(inUse.errors).toContain(folder)
    const readers = await Promise.all([1, 2, 3].map(() => runCommand(['info', '--data-dir', folder])))
    expect(readers.map((reader) => [reader.code, reader.errors])).toEqual(readers.map(() => [0, '']))
    const foreign = await runCommand(['info', '--data-dir', folder, '--network', 'testnet'])
    expect(foreign.code).toBe(1)
    expect(foreign.errors.split('\n')).toHaveLength(2)
  })

  test('error: invalid usage exits with code 2 and names the problem', async () => {
    const cases: [string[], RegExp][] = [
      [['start', '--nope'], /unknown option '--nope'/],
      [['begin'], /unknown command 'begin'/],
      [['start', '--http-port', 'abc'], /http\.port: expected a whole number .* got "abc" \(--http-port\)/],
      [['start', '--network', 'ropsten'], /network: expected regtest, devnet, testnet, mainnet, got "ropsten"/],
      [['start', '--mining', 'often'], /mining: expected auto, off or interval=SECONDS/],
      [['export', 'x', '--from', '1'], /required option '--to <number>'/],
      [['export', 'x', '--from', 'a', '--to', '2'], /expected a whole number/],
      [['config'], /give --check FILE or --print-default/],
    ]
    for (const [parameters, message] of cases) {
      const { code, errors } = await runCommand(parameters)
      expect([code, errors]).toEqual([2, expect.stringMatching(message)])
    }
  })

  test('config --check finds what would end a start', async () => {
    const folder = scratchFolder()
    const { cert } = makeCertificate(join(folder, 'first'))
    const { key } = makeCertificate(join(folder, 'second'))
    const cases: [string, RegExp | undefined][] = [
      ['[http]\nport = 0', undefined],
      [
        `[http]\ntlsCert = ${JSON.stringify(cert)}\ntlsKey = ${JSON.stringify(key)}`,
        /http\.tlsKey: .* is not the key of/,
      ],
      ['[fleet]\nrole = "importer"', /fleet\.url: a node of a fleet needs the URL of a NATS server/],
      ['[fleet]\nrestore = "/backups"', /fleet\.trust/],
      ['[admin]\nenabled = true\nhost = "0.0.0.0"', /admin\.host: .* set admin\.tokenFile/],
      ['[modules.nope]\nenabled = true', /modules\.nope: no such module/],
    ]
    const file = join(folder, 'rhizome.toml')
    for (const [content, problem] of cases) {
      writeFileSync(file, content)
      const { code, errors } = await runCommand(['config', '--check', file])
      expect([code, errors]).toEqual(problem === undefined ? [0, ''] : [2, expect.stringMatching(problem)])
    }
  })

  test('error: a chain file that is missing or none', async () => {
    const folder = scratchFolder()
    const missing = await attempt('--http-port', '0', '--chain', join(folder, 'none.json'))
    expect([missing.code, missing.errors.includes('none.json')]).toEqual([1, true])
    writeFileSync(join(folder, 'bad.json'), '{"network": 5')
    const bad = await attempt('--http-port', '0', '--chain', join(folder, 'bad.json'))
    expect([bad.code, bad.errors.includes('bad.json')]).toEqual([1, true])
  })
})

describe('import, export, info', () => {
  const chain = (folder: string) => {
    const file = join(folder, 'basic.blocks')
    const packed = fileURLToPath(new URL('../../tests/vectors/chains/regtest-basic.blocks.txt.gz', import.meta.url))
    const lines = gunzipSync(readFileSync(packed)).toString().split('\n').slice(0, 200)
    writeFileSync(file, `${lines.join('\n')}\n`)
    return file
  }

  test('behavior: blocks go in and come out the same', async () => {
    const folder = scratchFolder()
    const data = ['--data-dir', join(folder, 'data')]
    const file = chain(folder)
    const imported = await runCommand(['import', file, '--json', ...data])
    expect([imported.code, imported.errors]).toEqual([0, ''])
    const lines = imported.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toHaveLength(200)
    expect(lines.at(-1)).toMatchObject({ number: 200, result: 'IMPORTED_BEST' })
    expect(Object.keys(lines[0])).toEqual(['number', 'hash', 'stateRoot', 'result'])

    const info = JSON.parse((await runCommand(['info', '--json', ...data])).output)
    expect(info).toMatchObject({ network: 'regtest', chainId: 33, number: 200, hash: lines.at(-1).hash })

    const exported = join(folder, 'out.blocks')
    const result = await runCommand(['export', exported, '--from', '1', '--to', '200', ...data])
    expect([result.code, result.output]).toEqual([0, `200 blocks written to ${exported}\n`])
    expect(readFileSync(exported, 'utf8')).toBe(readFileSync(file, 'utf8'))
  })

  test('behavior: the first block whose state is compared is named once; known roots before it are compared', async () => {
    const folder = scratchFolder()
    const vector = (name: string): Buffer =>
      gunzipSync(readFileSync(fileURLToPath(new URL(`../../tests/vectors/chains/${name}`, import.meta.url))))
    const { spec } = JSON.parse(vector('testnet-rules.json.gz').toString()) as { spec: object }
    const lines = vector('testnet-rules.blocks.txt.gz').toString().split('\n')
    const specification = (name: string, content: object): string[] => {
      const file = join(folder, `${name}.json`)
      writeFileSync(file, JSON.stringify(content))
      return ['--chain', file, '--data-dir', join(folder, name)]
    }
    const file = (count: number): string => {
      const path = join(folder, `${count}.blocks`)
      writeFileSync(path, `${lines.slice(0, count).join('\n')}\n`)
      return path
    }
    const chain = specification('plain', spec)
    const first = await runCommand(['import', file(56), ...chain])
    expect([first.code, first.errors]).toEqual([0, 'state not compared before block 56\n'])
    const second = await runCommand(['import', file(58), ...chain])
    expect([second.code, second.errors]).toEqual([0, ''])
    const wrong = specification('wrong', { ...spec, stateRoots: { 20: `0x${'00'.repeat(32)}` } })
    const refused = await runCommand(['import', file(30), ...wrong])
    expect(refused.code).toBe(1)
    expect(refused.errors).toMatch(
      /block 20 is invalid: state root 0x[0-9a-f]{64}, the specification of the chain states 0x0{64}/,
    )
  })

  test('error: reading without a chain', async () => {
    const folder = join(scratchFolder(), 'none')
    for (const command of [['info'], ['export', 'x', '--from', '0', '--to', '1']]) {
      const { code, errors } = await runCommand([...command, '--data-dir', folder])
      expect([code, errors]).toEqual([1, `rhizome: ${folder}: there is no chain (--data-dir)\n`])
    }
  })

  test('error: files that are missing, corrupt or of another chain', async () => {
    const folder = scratchFolder()
    const data = ['--data-dir', join(folder, 'data')]
    const missing = await runCommand(['import', join(folder, 'none.blocks'), ...data])
    expect([missing.code, missing.errors]).toEqual([1, expect.stringContaining('none.blocks')])

    const lines = readFileSync(chain(folder), 'utf8').trim().split('\n')
    const faults: [string, string[]][] = [
      ['text', ['hello']],
      ['cut', [...lines.slice(0, 3), (lines[3] ?? '').slice(0, -20)]],
      ['changed', [...lines.slice(0, 3), (lines[3] ?? '').replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))]],
      ['gap', [...lines.slice(0, 3), lines[5] ?? '']],
    ]
    for (const [name, content] of faults) {
      const file = join(folder, `${name}.blocks`)
      writeFileSync(file, `${content.join('\n')}\n`)
      const { code, errors } = await runCommand(['import', file, '--data-dir', join(folder, name)])
      expect([name, code, errors]).toEqual([name, 1, expect.stringContaining(`${name}.blocks`)])
      expect(errors.split('\n').length).toBeLessThan(4)
    }
    const foreign = await runCommand([
      'import',
      chain(folder),
      '--network',
      'testnet',
      '--data-dir',
      join(folder, 'foreign'),
    ])
    expect(foreign.code).toBe(1)
  })
})

/** A command whose output is read while it runs. */
async function interactive(parameters: string[]) {
  const { spawn } = await import('node:child_process')
  const child = spawn(process.execPath, ['ts/rhizome.mjs', ...parameters], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (bytes) => {
    output += bytes
  })
  const exit = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
  return {
    output: () => output,
    stop: () => {
      child.kill('SIGINT')
      return exit
    },
  }
}
