import type { Usage } from './store.ts'

/** The counts of an app. */
export const usageCounts = ['requests', 'units', 'errors', 'refused'] as const satisfies readonly (keyof Usage)[]

export const noUsage: Usage = { requests: 0, units: 0, errors: 0, refused: 0 }

/** Number of UTC days and months in the store. */
export const keptDays = 62
export const keptMonths = 24

/** Returns the UTC day of a time in milliseconds since 1970, e.g. `2026-11-21`. */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}

/** Returns the UTC month, e.g. `2026-11`. */
export function monthOf(now: number): string {
  return new Date(now).toISOString().slice(0, 7)
}
