// Loaded only if the operator's page is enabled.

import { Apps } from './admin/apps.ts'
import { FigureFiles } from './admin/figures/files.ts'
import { FigureRecorder } from './admin/figures/recorder.ts'
import { readPage } from './admin/pageFiles.ts'
import { peerRoutes } from './admin/peers.ts'
import { Reporter, type ReportSources } from './admin/report.ts'
import { routesOf } from './admin/routes.ts'
import { AdminServer } from './admin/server.ts'
import { readToken } from './admin/token.ts'
import type { KeySource } from './auth/keySource.ts'
import type { ServiceStore } from './auth/store.ts'
import { figuresDirOf } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { urlOf } from './http/url.ts'
import type { Addon } from './native/bindings.ts'
import type { AppUse } from './observe/appUse.ts'
import type { Logger } from './observe/log.ts'
import { peerPort } from './operatorPeers.ts'
import { version } from './version.ts'

// Set-up writes it next to the bundle of this file.
const pageFolder = new URL('./page/', import.meta.url)

export interface OperatorParts {
  /** URL of the node, e.g. `http://127.0.0.1:4444`. */
  readonly url: string
  /** Undefined if the node cannot store apps. */
  readonly keys: { readonly store: Pick<ServiceStore, 'apps' | 'usage'>; readonly source: KeySource } | undefined
  readonly native: Addon
  readonly sources: Pick<ReportSources, 'workers' | 'core' | 'health' | 'webSockets' | 'filters'>
}

export interface RunningOperator {
  readonly url: string
  /** Closes the address; counting continues. */
  close(): void
  /** Stops counting and writes the figures. */
  save(): Promise<void>
}

/** Checks the settings and files of the operator's page before the node opens. Throws ConfigError. */
export function prepareOperator(
  config: Config,
  logger: Logger,
): {
  /** Adds the requests of apps that a worker reports. */
  takeAppUse(use: AppUse): void
  /** Serves page and API. Throws AdminListenError. */
  serve(parts: OperatorParts): Promise<RunningOperator>
} {
  const { host, port, hosts } = config.admin
  const token = readToken(config.admin)
  const page = readPage(pageFolder)
  const folder = figuresDirOf(config)
  const recorder = new FigureRecorder(
    folder === null ? undefined : new FigureFiles(folder),
    (error) => logger.error({ reason: error.message }, 'figures over time could not be stored'),
    Date.now,
  )
  return {
    takeAppUse: (use) => recorder.takeApps(use),
    async serve({ url, keys, native, sources }) {
      const baseUrl = config.auth.url === '' ? url : config.auth.url
      const apps =
        keys &&
        new Apps(keys.store, {
          network: config.network,
          baseUrl,
          publish: () => keys.source.refresh(),
          note: (action, app) => logger.info({ app, action }, 'app changed by the admin API'),
          now: Date.now,
        })
      const reporter = new Reporter(
        {
          ...sources,
          fixed: { version, network: config.network, url: baseUrl, workers: sources.workers.length },
          access: () => ({
            isOpen: keys?.source.keys.isOpen ?? true,
            staysOpen: config.auth.open,
            keepsApps: keys !== undefined,
          }),
          nowMs: () => performance.now(),
        },
        (sample) => recorder.take(sample),
      )
      const server = new AdminServer(
        [
          ...routesOf(
            apps,
            () => reporter.report(),
            (subject, range) => recorder.report(subject, range),
          ),
          ...peerRoutes(peerPort(native), (action, peer) =>
            logger.info({ peer, action }, 'peer changed by the admin API'),
          ),
        ],
        page,
        {
          section: 'admin',
          calledOrigins: [],
          hosts: [...hosts, host],
          token,
          onDefect: (error) => logger.error({ defect: error.stack ?? error.message }, 'internal error'),
        },
      )
      const found = await server.listen({ host, port })
      reporter.start()
      recorder.start()
      return {
        url: urlOf(host, found),
        close: () => server.close(),
        async save() {
          reporter.stop()
          await recorder.stop()
        },
      }
    },
  }
}
