import { configDefaults, defineConfig } from 'vitest/config'
import { createSummary } from './test/support/not-tested.ts'
import { missingPostgres } from './test/support/postgres-programs.ts'

/** Tests of what stands on the store, and not on the file that it may be. */
const IN_BOTH = [
  'test/store/**/*.test.ts',
  ...[
    'sync/accept-deletions',
    'archive/archive',
    'archive/archive-index',
    'schedule/catch-up',
    'outbox/send-due',
    'events/events-beside-syncs',
    'events/event-worker',
    'reports/freshness-gate',
    'sync/quarantine-and-drift',
    'events/webhook-intake',
    'message-lane',
    'reports/enqueue-report',
    'overview',
    'schedule/retention',
    'reports/resend',
    'sync/sync-scan',
    'schedule/schedule',
    'schedule/schedule-lease',
    'archive/search-issues',
    'stopped-events',
    'sync/run-sync',
    'sync/scheduled-sync',
    'troubles',
  ].map((name) => `test/jobs/${name}.test.ts`),
  'test/crash/outbox-beside.test.ts',
]

/** Of those, what is of files alone, of no store, or opens one in PostgreSQL anyway. */
const IN_FILES = [
  'db/subprocess',
  'backup/backup',
  'db/file-system',
  'leads/first-load',
  'first-schema',
  'history-migration',
  'leads/lead-history',
  'schema/migrate',
  'leads/hash-index',
  ...['postgres/*', 'postgres/postgres-comments', 'figures/same-figures'],
  'queries/analyst-query',
  'snapshot/*',
  'backup/upgrade',
].map((name) => `test/store/${name}.test.ts`)

/** On a build server its tests fail then, each for itself. */
const lacksPostgres = missingPostgres() !== null && !process.env.CI

export default defineConfig({
  test: {
    reporters: [
      'default',
      createSummary(
        lacksPostgres ? [`the tests of the store once more, in PostgreSQL: ${missingPostgres()}`] : [],
      ),
    ],
    globalSetup: ['test/support/postgres-for-run.ts'],
    // Only for what hangs: a machine that is busy with other things takes twenty times as long as an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    maxWorkers: 2,
    env: { TZ: 'UTC', NO_COLOR: '1' },
    // What the store does is the same in both databases: its tests run twice.
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['test/**/*.test.ts'],
          // `npm run test:container` has it run.
          exclude: [
            ...configDefaults.exclude,
            ...(process.env.CONTAINER ? [] : ['test/container/podman.test.ts']),
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: lacksPostgres ? [] : IN_BOTH,
          exclude: IN_FILES,
          env: { TEST_STORE: 'postgres' },
        },
      },
    ],
  },
})
