// Loaded only when figures are wanted: what they need takes memory.

import { addressesOf } from './config/addresses.ts'
import { isDevelopment } from './config/network.ts'
import type { Config } from './config/schema.ts'
import { MetricsServer } from './http/metricsServer.ts'
import { urlOf } from './http/url.ts'
import { servedMethods } from './methods/entries.ts'
import { Counters } from './observe/counters.ts'
import { createMetrics, type MetricSources } from './observe/metrics.ts'

/** One set of counters for each worker. */
export function createCounters(config: Config, count: number): Counters[] {
  const methods = servedMethods(config.modules, isDevelopment(config), addressesOf(config))
  return Array.from({ length: count }, () => new Counters(methods))
}

/** Serves the figures. Throws MetricsListenError. */
export async function serveFigures(
  { host, port, hosts }: Config['metrics'],
  sources: MetricSources,
): Promise<{ readonly url: string; close(): void }> {
  const server = new MetricsServer(createMetrics(sources), hosts)
  const found = await server.listen({ host, port })
  return { url: `${urlOf(host, found)}/metrics`, close: () => server.close() }
}
