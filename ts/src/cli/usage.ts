import { appNamed } from '../auth/app.ts'
import type { ServiceStore, Usage } from '../auth/store.ts'

/** Prints the usage of all apps, or of one app, by UTC day and month in order. */
export async function printUsage(store: ServiceStore, name: string | undefined, isJson: boolean): Promise<void> {
  const reports = (await store.usage.report()).filter(({ app }) => name === undefined || app === name)
  // An app that was never called has no report.
  if (name !== undefined && reports.length === 0) appNamed(await store.apps.read(), name)
  if (isJson) {
    process.stdout.write(`${JSON.stringify(reports)}\n`)
    return
  }
  const line = (app: string, period: string, cells: readonly string[]): void => {
    process.stdout.write(`${app.padEnd(24)} ${period.padEnd(10)} ${cells.map((cell) => cell.padStart(14)).join(' ')}\n`)
  }
  line('app', 'UTC', ['requests', 'units', 'errors', 'refused'])
  for (const { app, days, months } of reports) {
    for (const [period, usage] of [...inOrder(months), ...inOrder(days)]) {
      const { requests, units, errors, refused } = usage
      line(app, period, [requests, units, errors, refused].map(String))
    }
  }
}

function inOrder(periods: Readonly<Record<string, Usage>>): [string, Usage][] {
  return Object.entries(periods).sort(([one], [other]) => (one < other ? -1 : 1))
}
