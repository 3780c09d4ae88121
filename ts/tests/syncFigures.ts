import type { SyncFigures } from '../src/observe/nodeFigures.ts'

/** Figures of a synchronized node with one peer. */
export const idle: SyncFigures = {
  isSyncing: false,
  start: 0,
  head: 100,
  bestHeader: 100,
  claimed: 100,
  secondsBehind: 0,
  headers: 100,
  bodies: 100,
  headersPerSecond: 0,
  bodiesPerSecond: 0,
  blocksPerSecond: 0,
  peers: 1,
  peersOverBudget: 0,
  budgetWaits: 0,
  missing: 0,
  requested: 0,
  ready: 0,
  importing: 0,
  state: null,
  hasGivenUpState: false,
  older: null,
  failure: null,
}
