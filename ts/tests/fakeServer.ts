import { Keyring } from '../src/auth/keyring.ts'
import { meterMemory } from '../src/auth/meter.ts'
import { MethodGroups } from '../src/auth/methodGroups.ts'
import { loadConfig } from '../src/config/load.ts'
import { MemoryBudget, sharedCounters } from '../src/rpc/memoryBudget.ts'
import { createServer, type Server, type ServerParts } from '../src/server.ts'
import { fakeAddon } from './fakeAddon.ts'

/** Creates an open server over a fake addon; `parts` replaces parts of it. */
export function fakeServer(settings: object, parts: Partial<ServerParts> = {}): Server {
  return createServer({
    config: loadConfig({ settings }),
    native: fakeAddon(),
    keyring: new Keyring({ isOpen: true, apps: [], keys: [] }, meterMemory(), new MethodGroups([])),
    filters: {} as never,
    observe: () => undefined,
    shutdown: () => undefined,
    openSockets: new Int32Array(new SharedArrayBuffer(4)),
    memory: new MemoryBudget(sharedCounters(1), 0, 2 ** 29),
    counters: undefined,
    ...parts,
  })
}
