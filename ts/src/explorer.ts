// Loaded only if the explorer is enabled.

import { readPage } from './admin/pageFiles.ts'
import { AdminServer } from './admin/server.ts'
import { isDevelopment } from './config/network.ts'
import type { Config } from './config/schema.ts'
import type { ExplorerSettings, KnownSignatures } from './explorer/settings.ts'
import { urlOf } from './http/url.ts'
import type { Logger } from './observe/log.ts'

// Set-up writes it next to the bundle of this file.
const pageFolder = new URL('./explorer/', import.meta.url)

interface ExplorerParts {
  /** URL of the node, e.g. `http://127.0.0.1:4444`. */
  readonly url: string
  readonly takesWebSockets: boolean
  /** Whether requests need an API key now. */
  needsKey(): boolean
  readonly signatures: KnownSignatures
}

/** Reads the files of the explorer before the node opens. */
export function prepareExplorer(
  config: Config,
  logger: Logger,
): {
  /** Serves the page. Throws AdminListenError. */
  serve(parts: ExplorerParts): Promise<{ readonly url: string; close(): void }>
} {
  const { host, port, hosts } = config.explorer
  const page = readPage(pageFolder)
  return {
    async serve({ url, takesWebSockets, needsKey, signatures }) {
      const socketUrl = url.replace(/^http/, 'ws')
      const settings = (): ExplorerSettings => ({
        socketUrl: takesWebSockets ? socketUrl : null,
        network: config.network,
        isDevelopment: isDevelopment(config),
        needsKey: needsKey(),
      })
      const routes = [
        { method: 'GET' as const, path: /^\/settings$/, answer: async () => ({ status: 200, body: settings() }) },
        { method: 'GET' as const, path: /^\/signatures$/, answer: async () => ({ status: 200, body: signatures }) },
      ]
      const server = new AdminServer(routes, page, {
        section: 'explorer',
        calledOrigins: [socketUrl],
        hosts: [...hosts, host],
        token: undefined,
        onDefect: (error) => logger.error({ defect: error.stack ?? error.message }, 'internal error'),
      })
      const found = await server.listen({ host, port })
      return { url: urlOf(host, found), close: () => server.close() }
    },
  }
}
