/** Generated leads for the bench: about 1 KB of JSON each, the same for the same number and change. */
import { createHash } from 'node:crypto'
import type { WireLead } from '../../src/contract/lead.ts'
import { LEAD_STATUSES } from '../../src/contract/lead.ts'

const FIRST = Date.parse('2026-01-01T00:00:00Z')
const MINUTE_MS = 60_000
/** In the first state, all leads were last changed before November. */
const MINUTES = 430_000
const CHANGED = Date.parse('2026-11-02T00:00:00Z')
const PIPELINES = 8

/** @param change the number of changes since the first state; each alters score, status and updated_at */
export function generateLead(number: number, change = 0): WireLead {
  const digest = createHash('md5').update(`lead ${number}`).digest()
  const pick = (byte: number, of: number): number => (digest[byte] ?? 0) % of
  const at = (minutes: number): string => new Date(FIRST + minutes * MINUTE_MS).toISOString()
  const changedAt = new Date(CHANGED + change * 24 * 60 * MINUTE_MS + (number % 1000)).toISOString()
  const name = `Company ${digest.toString('hex', 0, 4)}`
  const minutes = number % MINUTES
  return {
    id: digest.toString('hex'),
    pipeline_id: `pipeline-${pick(0, PIPELINES)}`,
    status: LEAD_STATUSES[(pick(1, 250) + change) % LEAD_STATUSES.length] ?? 'discovered',
    company: {
      name,
      domain: `${digest.toString('hex', 4, 10)}.example`,
      industry: 'B2B',
      subindustry: 'B2B -> Analytics',
      employees: pick(2, 250),
      city: 'Vienna',
      country: 'Austria',
      region: 'Europe',
      one_liner: `${name} makes the work of teams visible, ${'and keeps it so, '.repeat(18)}day by day`,
    },
    contact: {
      name: `Person ${pick(3, 200)}`,
      title: 'Head of Operations',
      email: `person${number}@company.example`,
    },
    score: (pick(4, 101) + change) % 101,
    value: { amount: pick(5, 200) * 500, currency: 'USD' },
    source: 'directory',
    owner: `Seller ${pick(8, 40)}`,
    agent_id: `agent-${pick(6, 12)}`,
    tags: ['generated', `tag-${pick(7, 20)}`],
    created_at: at(minutes),
    updated_at: change > 0 ? changedAt : at(minutes + 60),
    status_changed_at: change > 0 ? changedAt : at(minutes + 30),
    expected_close_at: null,
  }
}
