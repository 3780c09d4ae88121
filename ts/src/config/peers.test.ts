import { describe, expect, test } from 'vitest'
import { loadConfig } from './load.ts'
import { networkSettings } from './peers.ts'

const settings = (network: string, values: Record<string, string> = {}) => {
  const flags = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`p2p.${name}`, { value, flag: name }]),
  )
  return networkSettings(loadConfig({ flags: { network: { value: network, flag: '--network' }, ...flags } }))
}
const id = 'ab'.repeat(64)

describe('networkSettings', () => {
  test('behavior: mainnet and testnet dial their boot nodes without any setting', () => {
    const [mainnet, testnet] = [settings('mainnet'), settings('testnet')]
    expect(mainnet).toMatchObject({ host: '0.0.0.0', port: 5050, hasDiscovery: true, maxPeers: 50, peers: [] })
    expect(mainnet?.bootnodes).toHaveLength(16)
    expect([mainnet?.bootnodes[0], mainnet?.bootnodes[15]]).toEqual([
      'bootstrap01.rsk.co:5050',
      'bootstrap16.rsk.co:5050',
    ])
    expect(testnet).toMatchObject({ host: '0.0.0.0', port: 50505, hasDiscovery: true })
    expect(testnet?.bootnodes).toHaveLength(8)
    expect([testnet?.bootnodes[0], testnet?.bootnodes[7]]).toEqual([
      'bootstrap01.testnet.rsk.co:50505',
      'bootstrap08.testnet.rsk.co:50505',
    ])
  })

  test('behavior: a development network has peers once a port or a peer is given', () => {
    expect(settings('regtest')).toBeUndefined()
    expect(settings('mainnet', { port: '0' })).toBeUndefined()
    const local = { host: '127.0.0.1', hasDiscovery: false, bootnodes: [] }
    expect(settings('regtest', { port: '50501' })).toMatchObject({ ...local, port: 50501 })
    expect(settings('regtest', { peers: `enode://${id}@127.0.0.1:1` })).toMatchObject({ ...local, port: null })
  })

  test('behavior: boot nodes are hosts or URLs; an empty list is none', () => {
    expect(settings('mainnet', { bootnodes: `a.example:1,enode://${id}@[::1]:2` })?.bootnodes).toEqual([
      'a.example:1',
      '[::1]:2',
    ])
  })

  const wrong: [Record<string, string>, RegExp][] = [
    [{ peers: 'a.example:1' }, /p2p\.peers: expected enode/],
    [{ peers: `enode://${id}@a.example:70000` }, /p2p\.peers/],
    [{ bootnodes: 'a.example' }, /p2p\.bootnodes: expected HOST:PORT/],
    [{ host: 'localhost' }, /p2p\.host: expected an IPv4 or IPv6 address/],
    [{ publicIp: 'me' }, /p2p\.publicIp/],
  ]
  test.each(wrong)('error: %j', (values, reason) => {
    expect(() => settings('mainnet', values)).toThrow(reason)
  })
})
