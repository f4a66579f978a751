/** Syncs by the profiles that ship, killed with SIGKILL in the middle of each kind of scan. */
import { expect, it } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { finished } from '../support/leadsheet.ts'
import { KEY } from '../support/source/foreign.ts'
import { DIALECTS } from '../support/source/vendors/dialects.ts'
import {
  copiedTo,
  type Dialect,
  keptOf,
  nameOf,
  offered,
  profileOf,
  SECRET,
  shippedText,
  startVendor,
} from '../support/source/vendors/vendor.ts'
import { run, start } from './support/program.ts'
import { expectSound } from './support/store.ts'
import { databaseIn } from './support/world.ts'

it.each(DIALECTS.map((dialect) => [nameOf(dialect), dialect] as const))('%s', (_, dialect) =>
  syncKilled(dialect),
)

async function syncKilled(dialect: Dialect): Promise<void> {
  const profile = profileOf(dialect)
  await using vendor = await startVendor(dialect, 95)
  const cwd = folderWith({
    // The server takes as many requests a second as there are.
    'profile.yaml': shippedText(nameOf(dialect)).replace(/requests_per_second: \d+,?/, ''),
    'leadsheet.yaml': `
api: { url: "${vendor.url}", profile: profile.yaml, page_size: 20 }
snapshot: { when: never }
reports: []
`,
  })
  // A second secret that no rule of the profile wants is refused.
  const second = Object.values(dialect.headers).includes(SECRET) ? { LEADSHEET_API_SECRET: SECRET } : {}
  const env = { LEADSHEET_API_KEY: KEY, ...second }

  /** Syncs with a kill before the answer to a request, and goes on. */
  async function syncKilledAt(request: number, ...more: string[]): Promise<void> {
    const program = { args: ['sync', '--only', 'leads', ...more], cwd, env }
    const child = start(program)
    vendor.asked.length = 0
    vendor.before = (number) => {
      if (number === request) child.kill('SIGKILL')
      return null
    }
    const ended = await finished(child)
    expect(child.signalCode, ended.stderr).toBe('SIGKILL')
    vendor.before = () => null
    await expectSound(databaseIn(cwd))
    expect(await run(program)).toMatchObject({ status: 0 })
  }
  async function expectAll(): Promise<void> {
    await using store = await openStore(databaseIn(cwd), new Date())
    expect(await copiedTo(store, profile)).toEqual(offered(vendor, dialect))
  }

  await syncKilledAt(3)
  await expectAll()
  const updated = '2026-11-21T06:30:00.000Z'
  const status = dialect.statuses.at(-1) ?? ''
  vendor.records.set(5, { ...keptOf(5, dialect), status, company: 'Renamed', updated })
  vendor.records.set(200, { ...keptOf(200, dialect), created: updated, updated })
  await syncKilledAt(1)
  await expectAll()
  vendor.records.set(7, { ...keptOf(7, dialect), isDeleted: true, updated: '2026-11-21T07:30:00.000Z' })
  for (const request of [2, 3]) await syncKilledAt(request, '--full')
  await expectAll()
}
