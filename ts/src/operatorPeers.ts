import type { PeerPort } from './admin/peers.ts'
import { ApiError } from './admin/refusal.ts'
import type { BanView, PeerView } from './admin/shapes.ts'
import type { Addon } from './native/bindings.ts'
import { code, RpcError } from './rpc/errors.ts'

/** Element of `admin_peers`. */
interface ConnectedPeer {
  readonly enode: string
  readonly id: string
  readonly name: string
  readonly caps: readonly string[]
  readonly network: { readonly remoteAddress: string; readonly inbound: boolean; readonly static: boolean }
  readonly connectedSeconds: number
  readonly score: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly protocols: { readonly rsk: { readonly head?: string; readonly number?: number } }
}

interface PeerRules {
  readonly dialled: readonly string[]
  readonly bans: readonly { readonly target: string; readonly until: number | null }[]
}

/** Returns the peers of the core for the admin API. Refusals of the core become ApiError. */
export function peerPort(native: Addon): PeerPort {
  return {
    list() {
      const { dialled, bans } = JSON.parse(native.peerRules()) as PeerRules
      const peers = (JSON.parse(String(native.adminPeers())) as ConnectedPeer[]).map(viewOf)
      return { enode: ownUrl(native), peers, dialled, bans: bans.map(banOf) }
    },
    add: (enode) => refusing('enode', () => void native.adminAddPeer(enode)),
    remove: (id) => refusing('id', () => String(native.adminRemovePeer(id)) === 'true'),
    ban: (target, seconds) => refusing('target', () => void native.banPeer(target, seconds)),
    unban: (target) => refusing('target', () => native.unbanPeer(target) === 'true'),
  }
}

/** Returns null for a node without a listener, or without peers. */
function ownUrl(native: Addon): string | null {
  try {
    return (JSON.parse(String(native.adminNodeInfo())) as { enode: string | null }).enode
  } catch (error) {
    if (error instanceof RpcError) return null
    throw error
  }
}

function viewOf({ name, caps, network, protocols: { rsk }, ...rest }: ConnectedPeer): PeerView {
  const { enode, id, connectedSeconds, score, bytesIn, bytesOut } = rest
  return {
    id,
    enode,
    client: name,
    capabilities: caps,
    address: network.remoteAddress,
    direction: network.inbound ? 'in' : 'out',
    isStatic: network.static,
    connectedSeconds,
    score,
    bytesIn,
    bytesOut,
    head: rsk.head === undefined ? null : { number: rsk.number ?? null, hash: rsk.head },
  }
}

function banOf({ target, until }: PeerRules['bans'][number]): BanView {
  return { target, until: until === null ? null : new Date(until * 1000).toISOString() }
}

/** Runs `work`. Invalid values become 400 with the member's name, a node without peers 409. */
function refusing<T>(member: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RpcError) || error.code === code.internal) throw error
    if (error.code === code.invalidParams) throw new ApiError(400, 'invalid', `${member}: ${error.message}`, { member })
    if (error.code === code.unwritable) throw new ApiError(503, 'store', error.message)
    throw new ApiError(409, 'peers', error.message)
  }
}
