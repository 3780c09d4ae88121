import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['ts/src/**/*.test.ts', 'ts/tests/**/*.test.ts', 'scripts/**/*.test.mjs'],
    globalSetup: 'ts/tests/scratch.ts',
    // Each file of ts/tests starts a node of its own; more at a time than processors only makes them slow.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/vitest.json' }]],
  },
})
