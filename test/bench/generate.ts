/** Generated leads for the bench: about 1 KB of JSON each, the same for the same number. */
import { createHash } from 'node:crypto'
import type { WireLead } from '../../src/contract/lead.ts'
import { LEAD_STATUSES } from '../../src/contract/stage.ts'

const FIRST = Date.parse('2026-01-01T00:00:00Z')
const MINUTE_MS = 60_000
const PIPELINES = 8

export function generateLead(number: number): WireLead {
  const digest = createHash('md5').update(`lead ${number}`).digest()
  const pick = (byte: number, of: number): number => (digest[byte] ?? 0) % of
  const at = (minutes: number): string => new Date(FIRST + minutes * MINUTE_MS).toISOString()
  const name = `Company ${digest.toString('hex', 0, 4)}`
  return {
    id: digest.toString('hex'),
    pipeline_id: `pipeline-${pick(0, PIPELINES)}`,
    status: LEAD_STATUSES[pick(1, LEAD_STATUSES.length)] ?? 'discovered',
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
    score: pick(4, 101),
    value: { amount: pick(5, 200) * 500, currency: 'USD' },
    source: 'directory',
    agent_id: `agent-${pick(6, 12)}`,
    tags: ['generated', `tag-${pick(7, 20)}`],
    created_at: at(number),
    updated_at: at(number + 60),
    status_changed_at: at(number + 30),
  }
}
