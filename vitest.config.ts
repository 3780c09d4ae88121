import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['ts/src/**/*.test.ts', 'ts/tests/**/*.test.ts', 'scripts/**/*.test.mjs'],
    globalSetup: 'ts/tests/scratch.ts',
    // Each file of ts/tests starts a separate node; more files at a time than processors only slow them down.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/vitest.json' }]],
  },
})
