// @both-stores
import { CompiledQuery, sql } from 'kysely'
import { expect, it } from 'vitest'
import { FAILING } from '../../../src/report/blocks/agents/view.ts'
import { saveAgents, savePipelineStat } from '../../../src/store/sync/samples.ts'
import { agent, lead, observedAt, openEmptyStore, save, saveWholeRun, stat } from '../../support/store.ts'

/** The questions to the views, by what their answers show. */
const ASKED: Readonly<Record<string, string>> = {
  'a row for each run of failing samples, up to the first that is not or is gone, and null while it lasts':
    'SELECT agent_id, began_at, ended_at, samples, hours FROM agent_outage ORDER BY agent_id, began_at',
  'the stays that ended, with what came next or without where the lead was removed, and those that last up to the last whole reading':
    "SELECT * FROM stage_stay WHERE pipeline_id = 'p1' ORDER BY lead_id, entered_at",
  'our counts with their difference from statistics that contradict the leads, which are kept': `SELECT name,
    overview.leads, overview.won, overview.open, leads_upstream, difference, told.leads AS told, told.won AS told_won, told.open AS told_open
    FROM pipeline_overview AS overview JOIN pipeline_stat AS told ON overview.id = told.pipeline_id`,
}

it('the views of analysts show what was read', async () => {
  await using store = await openEmptyStore()
  const states = ['running', 'failing', 'error', 'idle', 'failing', 'running', 'failing', 'failing']
  const failing = FAILING.map((status) => agent(status, status.toUpperCase()))
  for (const [hours, status] of states.entries()) {
    const agents = [agent('a', status), agent('b', 'idle'), ...(hours < 2 ? failing : [])]
    const observed = observedAt(`2026-11-20T0${hours}:00:00.000Z`)
    await store.write((trx) => saveAgents(trx, agents, observed, { isWhole: true }))
  }
  const [second, third] = ['2026-11-05T00:00:00.000Z', '2026-11-08T00:00:00.000Z']
  await save(store, [lead('1'), lead('2')])
  await save(store, [lead('1', { status: 'contacted', statusChangedAt: second, updatedAt: third })])
  await sql`UPDATE lead SET deleted_at = '2026-11-03T00:00:00.000Z' WHERE id = '2'`.execute(store.db)
  await saveWholeRun(store, '2026-11-07T00:00:00Z')
  await save(
    store,
    ['won', 'won', 'new'].map((status, n) => lead(`p2 ${n}`, { pipelineId: 'p2', status })),
  )
  const observed = observedAt('2026-11-21T06:00:00Z')
  const told = { ...stat('p2', observed.at, {}), name: 'Solar', leads: 5, won: 1, open: 4 }
  await store.write((trx) => savePipelineStat(trx, told, observed))
  const lines: string[] = []
  for (const [what, query] of Object.entries(ASKED)) {
    const { rows } = await store.db.executeQuery(CompiledQuery.raw(query))
    lines.push(what, ...rows.map((row) => `  ${JSON.stringify(row)}`))
  }
  // The same statuses are failing as in the report.
  expect(FAILING.filter((status) => !lines.join().includes(`"${status}"`))).toEqual([])
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/views.txt')
})
