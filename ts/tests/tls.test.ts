import { execFileSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { connect, type DetailedPeerCertificate } from 'node:tls'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { makeCertificate } from './certificate.ts'
import { NodeProcess, program, runProgram, scratchFolder } from './node.ts'

const folder = scratchFolder()
const first = makeCertificate(join(folder, 'first'), 'first')
const second = makeCertificate(join(folder, 'second'), 'second')
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })

function ask(url: string, ca?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, ca, agent: false as const }
    const outgoing = request(url, options, (response) => {
      let text = ''
      response.on('data', (bytes) => {
        text += bytes
      })
      response.on('end', () => resolve(text))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Returns the common name of the certificate of a new connection. */
function shownName(port: number, servername?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ...(servername && { servername }) }
    const socket = connect(options, () => {
      const { subject } = socket.getPeerCertificate() as DetailedPeerCertificate
      socket.destroy()
      resolve(String(subject.CN))
    })
    socket.on('error', reject)
  })
}

describe('a node with a certificate', () => {
  const cert = join(folder, 'cert.pem')
  const key = join(folder, 'key.pem')
  const use = (files: typeof first): void => {
    copyFileSync(files.cert, cert)
    copyFileSync(files.key, key)
  }
  let node: NodeProcess
  let port = 0
  beforeAll(async () => {
    use(first)
    node = await NodeProcess.start(['--workers', '2', '--tls-cert', cert, '--tls-key', key], '')
    port = Number(new URL(node.url).port)
  })
  afterAll(() => node.stop())

  test('behavior: clients that trust it are answered over https, others hang up', async () => {
    expect(node.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(await ask(node.url, first.ca)).toBe('{"jsonrpc":"2.0","id":1,"result":"0x21"}')
    await expect(ask(node.url)).rejects.toThrow(/self-signed/)
    await expect(ask(node.url, second.ca)).rejects.toThrow()
  })

  test('behavior: large answers and bodies', async () => {
    const batch = JSON.stringify(Array.from({ length: 50 }, (_none, id) => ({ id, method: 'rpc_discover' })))
    const size = await new Promise<number>((resolve, reject) => {
      const options = { method: 'POST', headers: { 'content-type': 'application/json' }, ca: first.ca }
      const outgoing = request(node.url, options, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece) => pieces.push(piece))
        response.on('end', () => resolve(JSON.parse(Buffer.concat(pieces).toString()).length))
      })
      outgoing.on('error', reject)
      outgoing.end(batch.padEnd(2_000_000))
    })
    expect(size).toBe(50)
  })

  test('behavior: viem over https and a WebSocket over wss', async () => {
    const script = `
      import { createPublicClient, http, webSocket } from 'viem'
      const overHttp = createPublicClient({ transport: http('${node.url}') })
      console.log(await overHttp.getChainId(), await overHttp.getBlockNumber())
      const overSocket = createPublicClient({ transport: webSocket('${node.url.replace('https', 'wss')}') })
      console.log(await overSocket.getChainId())
      process.exit()`
    const file = join(import.meta.dirname, `tls.${process.pid}.mjs`)
    writeFileSync(file, script)
    const environment = { ...process.env, NODE_EXTRA_CA_CERTS: first.cert }
    try {
      expect(execFileSync(process.execPath, [file], { env: environment }).toString()).toBe('33 0n\n33\n')
    } finally {
      execFileSync('rm', [file])
    }
    const stranger = createPublicClient({ transport: http(node.url, { retryCount: 0 }) })
    await expect(stranger.getChainId()).rejects.toThrow()
    const socket = new WebSocket(node.url.replace('https', 'wss'))
    await expect(new Promise((_resolve, reject) => socket.on('error', reject))).rejects.toThrow(/self-signed/)
  })

  test('error: a client without TLS, garbage, a hello that never ends', async () => {
    await expect(fetch(node.url.replace('https', 'http'), { method: 'POST', body })).rejects.toThrow()
    const { exchange } = await import('./rawSocket.ts')
    const garbage = await exchange(port, Buffer.alloc(100_000, 0x16)).catch(() => ({ isClosed: true }))
    expect(garbage.isClosed).toBe(true)
    expect((await exchange(port, Buffer.from('160301020001', 'hex'))).text).toBe('')
    expect(await ask(node.url, first.ca)).toContain('0x21')
  })

  test('behavior: SIGHUP loads a new certificate; open connections stay, an invalid certificate changes nothing', async () => {
    const open = new WebSocket(node.url.replace('https', 'wss'), { ca: first.ca })
    await new Promise((resolve, reject) => open.on('open', resolve).on('error', reject))
    expect(await shownName(port)).toBe('first')

    writeFileSync(key, 'no key')
    node.child.kill('SIGHUP')
    await expect.poll(() => node.errors).toContain('contains no private key')
    expect(await shownName(port)).toBe('first')

    use(second)
    node.child.kill('SIGHUP')
    const names = async () => {
      const shown = await Promise.all(Array.from({ length: 12 }, () => shownName(port)))
      return [...new Set(shown)].join()
    }
    await expect.poll(names).toBe('second')
    expect(await shownName(port, 'localhost')).toBe('second')
    expect(await ask(node.url, second.ca)).toContain('0x21')
    open.send(body)
    expect(String(await new Promise((resolve) => open.on('message', resolve)))).toContain('0x21')
    open.close()
    expect(node.errors).not.toMatch(/PRIVATE KEY|"level":50.*certificates stay/)
  })
})

test('behavior: connections of one client are counted from their first byte on', async () => {
  const settings = `[http]\nmaxConnectionsPerIp = 3\ntlsCert = ${JSON.stringify(first.cert)}\ntlsKey = ${JSON.stringify(first.key)}\n`
  const node = await NodeProcess.start(['--workers', '2'], settings)
  const port = Number(new URL(node.url).port)
  const silent = [connectPlain(port, '127.0.0.1'), connectPlain(port, '127.0.0.1')]
  await Promise.all(silent.map((socket) => new Promise((resolve) => socket.on('connect', resolve))))
  const open = new WebSocket(node.url.replace('https', 'wss'), { ca: first.ca })
  await new Promise((resolve, reject) => open.on('open', resolve).on('error', reject))
  await expect(ask(node.url, first.ca)).rejects.toThrow()
  for (const socket of silent) socket.destroy()
  await expect.poll(() => ask(node.url, first.ca).catch(() => '')).toContain('0x21')
  open.close()
  await node.stop()
})

describe('at the start', () => {
  const locked = join(folder, 'locked.pem')
  execFileSync('openssl', ['ec', '-in', first.key, '-aes256', '-passout', 'pass:x', '-out', locked], { stdio: 'pipe' })
  test.each([
    [[first.cert, ''], /http\.tlsKey: is needed beside tlsCert/],
    [['', first.key], /http\.tlsCert: is needed beside tlsKey/],
    [[join(folder, 'none.pem'), first.key], /http\.tlsCert: .*none\.pem cannot be read \(ENOENT\)/],
    [[first.key, first.key], /http\.tlsCert: .* contains no certificate/],
    [[first.cert, first.cert], /http\.tlsKey: .* contains no private key/],
    [[first.cert, second.key], /http\.tlsKey: .* is not the key of/],
    [[first.cert, locked], /http\.tlsKey: .* is encrypted with a passphrase/],
  ])('error: certificate and key %#', async ([cert = '', key = ''], message) => {
    const flags = ['--ephemeral', '--http-port', '0', '--tls-cert', cert, '--tls-key', key]
    const { code, errors } = await runProgram([program, 'start', ...flags])
    expect(errors).toMatch(message)
    expect([code, errors.includes('BEGIN')]).toEqual([2, false])
  })
})
