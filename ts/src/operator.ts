// Loaded only when the operator's page is wanted.

import { Apps } from './admin/apps.ts'
import { readPage } from './admin/pageFiles.ts'
import { Reporter, type ReportSources } from './admin/report.ts'
import { routesOf } from './admin/routes.ts'
import { AdminServer } from './admin/server.ts'
import { readToken } from './admin/token.ts'
import type { KeySource } from './auth/keySource.ts'
import type { ServiceStore } from './auth/store.ts'
import type { Config } from './config/schema.ts'
import { urlOf } from './http/url.ts'
import type { Logger } from './observe/log.ts'
import { version } from './version.ts'

// Set-up puts it beside the bundle of this file.
const pageFolder = new URL('./page/', import.meta.url)

export interface OperatorParts {
  /** Where the node serves, e.g. `http://127.0.0.1:4444`. */
  readonly url: string
  /** Undefined where no apps can be kept. */
  readonly keys: { readonly store: Pick<ServiceStore, 'apps' | 'usage'>; readonly source: KeySource } | undefined
  readonly sources: Pick<ReportSources, 'workers' | 'core' | 'health' | 'webSockets' | 'filters'>
  readonly logger: Logger
}

/** What is needed to serve the page, looked at before the node opens. Throws ConfigError. */
export function prepareOperator(config: Config): {
  /** Throws AdminListenError. */
  serve(parts: OperatorParts): Promise<{ readonly url: string; close(): void }>
} {
  const { host, port, hosts } = config.admin
  const token = readToken(config.admin)
  const page = readPage(pageFolder)
  return {
    async serve({ url, keys, sources, logger }) {
      const baseUrl = config.auth.url === '' ? url : config.auth.url
      const apps =
        keys &&
        new Apps(keys.store, {
          network: config.network,
          baseUrl,
          publish: () => keys.source.look(),
          note: (action, app) => logger.info({ app, action }, 'app changed by the admin API'),
          now: Date.now,
        })
      const reporter = new Reporter({
        ...sources,
        fixed: { version, network: config.network, url: baseUrl, workers: sources.workers.length },
        access: () => ({
          isOpen: keys?.source.keys.isOpen ?? true,
          staysOpen: config.auth.open,
          keepsApps: keys !== undefined,
        }),
        nowMs: () => performance.now(),
      })
      const server = new AdminServer(
        routesOf(apps, () => reporter.report()),
        page,
        {
          hosts: [...hosts, host],
          token,
          onDefect: (error) => logger.error({ defect: error.stack ?? error.message }, 'internal error'),
        },
      )
      const found = await server.listen({ host, port })
      reporter.start()
      return {
        url: urlOf(host, found),
        close() {
          reporter.stop()
          server.close()
        },
      }
    },
  }
}
