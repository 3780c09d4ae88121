// Loaded only if metrics are enabled, because prom-client takes memory.

import type { Config } from './config/schema.ts'
import { MetricsServer } from './http/metricsServer.ts'
import { urlOf } from './http/url.ts'
import { createMetrics, type MetricSources } from './observe/metrics.ts'

/** Serves the metrics. Throws MetricsListenError. */
export async function serveFigures(
  { host, port, hosts }: Config['metrics'],
  sources: MetricSources,
): Promise<{ readonly url: string; close(): void }> {
  const server = new MetricsServer(createMetrics(sources), hosts)
  const found = await server.listen({ host, port })
  return { url: `${urlOf(host, found)}/metrics`, close: () => server.close() }
}
