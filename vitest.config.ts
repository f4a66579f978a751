import { globSync, readFileSync } from 'node:fs'
import { configDefaults, defineConfig } from 'vitest/config'
import { missingPostgres } from './test/support/postgres/postgres-programs.ts'
import { createSummary } from './test/support/process/not-tested.ts'
import { COMPILED, quickFolder } from './test/support/process/programs.ts'

/** On a build server its tests fail then, each for itself. */
const lacksPostgres = missingPostgres() !== null && !process.env.CI

/** The first line of a test file says whether its tests run once with each of the two databases, or take long. */
function listMarked(mark: '@both-stores' | '@long'): string[] {
  const files = globSync('test/**/*.test.ts').sort()
  return files.filter((file) => readFileSync(file, 'utf8').startsWith(`// ${mark}\n`))
}

/** What `npm test` leaves out; on a build server another part of it is run each day. */
const LONG = [
  ...['crash', 'sim', 'foreign', 'mail/real'].map((folder) => `test/${folder}/**/*.test.ts`),
  ...listMarked('@long'),
]
const IN_POSTGRES = lacksPostgres ? [] : listMarked('@both-stores')
/** What `npm test` runs in PostgreSQL: the tests of the store. What stands above the store meets it there too, in a long run. */
const OF_STORE = 'test/store/'
/** What `npx vitest run --project container` runs. */
const OF_IMAGE = 'test/container/podman.test.ts'

/** A full run tries every point or a thousand seeds. */
const isFull = process.env.CRASH === 'full' || process.env.SIM === 'full'
/** The times for a test and for a long test. They end only what hangs: a busy machine takes twenty times as long. */
const TEST_MS = isFull ? 3_600_000 : 300_000
const LONG_MS = isFull ? 3_600_000 : 1_200_000

export default defineConfig({
  test: {
    reporters: [
      'default',
      createSummary(
        lacksPostgres ? [`the tests of the store once more, in PostgreSQL: ${missingPostgres()}`] : [],
      ),
    ],
    globalSetup: ['test/support/postgres/postgres-for-run.ts'],
    testTimeout: TEST_MS,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    maxWorkers: 3,
    // The files of a worker share its modules: to load them again for each file takes longer than most files do.
    isolate: false,
    unstubEnvs: true,
    env: { TZ: 'UTC', NO_COLOR: '1', TMPDIR: quickFolder(), NODE_COMPILE_CACHE: COMPILED },
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...LONG, OF_IMAGE],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: IN_POSTGRES.filter((file) => file.startsWith(OF_STORE)),
          env: { TEST_STORE: 'postgres' },
        },
      },
      { extends: true, test: { name: 'long', include: LONG, testTimeout: LONG_MS } },
      {
        extends: true,
        test: {
          name: 'long-postgres',
          include: IN_POSTGRES.filter((file) => !file.startsWith(OF_STORE)),
          env: { TEST_STORE: 'postgres' },
          testTimeout: LONG_MS,
        },
      },
      { extends: true, test: { name: 'container', include: [OF_IMAGE] } },
    ],
  },
})
