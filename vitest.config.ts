import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-for-run.ts'],
    // Only for what hangs: a machine that is busy with other things takes twenty times as long as an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    maxWorkers: 2,
    env: { TZ: 'UTC', NO_COLOR: '1' },
  },
})
