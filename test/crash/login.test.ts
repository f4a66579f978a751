/** A sync whose login rotates its refresh token, killed at every point. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { CLIENT, startTokenServer } from '../support/network/token-server.ts'
import { startUpstream } from '../support/upstream.ts'
import { hashTables } from './support/contents.ts'
import { listPoints, type Program, run, runKilledAt } from './support/program.ts'
import { forEachCase, sampleOf } from './support/scale.ts'
import { databaseIn } from './support/world.ts'

/** Opens an installation with servers of its own, whose token is revoked once in mid-scan. */
async function openInstallation() {
  const opened = new AsyncDisposableStack()
  const server = opened.use(await startTokenServer())
  const upstream = opened.use(await startUpstream(40))
  upstream.allows = server.allows
  const cwd = folderWith({
    'leadsheet.yaml': `
api:
  url: ${upstream.url}
  page_size: 10
  oauth: { token_url: "${server.url}", grant: refresh_token, client_id: ${CLIENT.id}, client_secret_file: s, refresh_token_file: r }
enrichment: { policy: none }
snapshot: { when: never }
reports: []
`,
    s: CLIENT.secret,
    r: server.consent(),
  })
  upstream.faults.push(
    () => false,
    () => void server.good.clear(),
  )
  const program: Program = { args: ['sync', '--only', 'leads', '--full'], cwd, env: {} }
  return {
    server,
    program,
    consentAgain: () => writeFileSync(join(cwd, 'r'), server.consent()),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

it('goes on with the refresh token that is stored, or needs a new one after a kill between answer and commit', async () => {
  await using unkilled = await openInstallation()
  const points = await listPoints(unkilled.program)
  const expected = hashTables(databaseIn(unkilled.program.cwd))
  expect(points.filter((name) => name === 'before COMMIT')).toHaveLength(2)
  const all = points.map((_name, index) => index + 1)
  const around = all.filter((point) => points.slice(point - 1, point + 3).includes('before COMMIT'))
  const numbers = [...new Set([...around, ...sampleOf(all, 4)])]
  let killed = 0
  await forEachCase(numbers, async (point) => {
    await using one = await openInstallation()
    const { server, program } = one
    if (await runKilledAt(point, program)) killed++
    const after = await run(program)
    // The service had answered, and the answer was not stored yet.
    const isLost = after.status !== 0 && /400: invalid_grant/.test(after.stderr)
    if (isLost) {
      expect(points[point - 1]).toMatch(/^(after write to a socket|answer read|before COMMIT)$/)
      one.consentAgain()
      expect(await run(program)).toMatchObject({ status: 0 })
    } else {
      expect(after, `${points[point - 1]}: ${after.stderr}`).toMatchObject({ status: 0 })
      const used = server.asked.map(({ body }) => body['refresh_token'])
      // A request that was killed before it arrived is sent again with the same one.
      expect(new Set(used).size).toBeGreaterThanOrEqual(used.length - 1)
    }
    expect(hashTables(databaseIn(program.cwd))).toEqual(expected)
  })
  expect(killed).toBeGreaterThanOrEqual(numbers.length - 1)
})
