// @both-stores
import { describe, expect, it } from 'vitest'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { type AgentSpans, readAgentSpans } from '../../../src/store/figures/pipeline-overview.ts'
import { saveAgents } from '../../../src/store/sync/samples.ts'
import { agent, openEmptyStore, seenAt } from '../../support/store.ts'

const FROM = '2026-11-20T00:00:00.000Z'
const TO = '2026-11-21T00:00:00.000Z'

function at(clock: string): string {
  return `2026-11-20T${clock}:00.000Z`
}

/** @param samples the status of one agent by the time of the day */
async function spansOf(samples: Readonly<Record<string, string>>): Promise<AgentSpans> {
  await using store = await openEmptyStore()
  for (const [clock, status] of Object.entries(samples)) {
    await store.write((trx) => saveAgents(trx, [agent('a', status)], seenAt(at(clock)), { isWhole: true }))
  }
  const scope = { from: FROM, to: TO, filter: EVERY_LEAD, stalledDays: 7 }
  const words = { well: ['running', 'idle'], failing: ['failing', 'down'] }
  return await readAgentSpans({ db: store.db, tempTables: new Map() }, scope, words)
}

async function told(samples: Readonly<Record<string, string>>): Promise<string[]> {
  const { spans } = await spansOf(samples)
  return spans.map(({ state, from, to }) => `${state} ${from.slice(11, 16)}-${to.slice(11, 16)}`)
}

describe('the states of an agent', () => {
  it('last from the reading that finds them to the first that finds another', async () => {
    const samples = {
      '06:00': 'running',
      '06:15': 'idle',
      '06:30': 'failing',
      '06:45': 'Down',
      '07:00': 'paused',
      '07:15': 'running',
      '07:30': 'running',
    }
    expect(await told(samples)).toEqual([
      'well 06:00-06:30',
      'failing 06:30-07:00',
      'other 07:00-07:15',
      'well 07:15-07:30',
    ])
  })

  it('are not known between samples that are more than two hours apart', async () => {
    const samples = {
      '06:00': 'idle',
      '06:15': 'idle',
      '08:16': 'failing',
      '08:30': 'failing',
      '10:30': 'idle',
    }
    expect(await told(samples)).toEqual(['well 06:00-06:15', 'failing 08:16-10:30', 'well 10:30-10:30'])
  })

  it('are known between samples that are usually far apart', async () => {
    const samples = { '01:00': 'idle', '04:00': 'idle', '07:00': 'idle', '15:00': 'idle' }
    expect((await spansOf(samples)).gapMs).toBe(9 * 60 * 60_000)
    expect(await told(samples)).toEqual(['well 01:00-15:00'])
  })

  it('are none where nothing was read', async () => {
    expect(await spansOf({})).toEqual({ spans: [], gapMs: 2 * 60 * 60_000 })
  })
})
