/** A sync whose login rotates its refresh token, killed at every point. */
import { expect, it } from 'vitest'
import { openWithLogin } from '../login/support/installation.ts'
import { hashTables } from './support/contents.ts'
import { listPoints, type Program, run, runKilledAt } from './support/program.ts'
import { forEachCase, sampleOf } from './support/scale.ts'
import { databaseIn } from './support/world.ts'

/** Opens an installation with servers of its own, whose token is revoked once in mid-scan. */
async function openInstallation() {
  const installation = await openWithLogin({
    leads: 40,
    settings: 'enrichment: { policy: none }\nsnapshot: { when: never }\nreports: []\n',
  })
  const { cwd, server } = installation
  installation.beforePage(2, () => server.good.clear())
  const program: Program = { args: ['sync', '--only', 'leads', '--full'], cwd, env: {} }
  return { ...installation, program }
}

it('goes on with the refresh token that is stored, or needs a new one after a kill between answer and commit', async () => {
  await using unkilled = await openInstallation()
  const points = await listPoints(unkilled.program)
  const expected = hashTables(databaseIn(unkilled.program.cwd))
  expect(points.filter((name) => name === 'before COMMIT')).toHaveLength(2)
  const all = points.map((_name, index) => index + 1)
  const nearCommit = all.filter((point) => points.slice(point - 1, point + 3).includes('before COMMIT'))
  const numbers = [...new Set([...nearCommit, ...sampleOf(all, 4)])]
  let killed = 0
  await forEachCase(numbers, async (point) => {
    await using one = await openInstallation()
    const { server, program } = one
    if (await runKilledAt(point, program)) killed++
    const after = await run(program)
    // The service had answered, and the answer was not stored yet.
    const isLost = after.status !== 0 && /400: invalid_grant/.test(after.stderr)
    if (isLost) {
      // In another run the points of the network may stand one place earlier or later.
      const around = points.slice(Math.max(0, point - 2), point + 1)
      expect(around.join('\n')).toMatch(/^(after write to a socket|answer read|before COMMIT)$/m)
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
