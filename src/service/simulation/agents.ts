/** Defines the twelve agents: their kinds, the leads that they take, and their error messages. */
import type { WireAgent } from '../../contract/pipeline.ts'
import type { Random } from './random.ts'

export type AgentKind = WireAgent['kind']

export type AgentProfile = Readonly<ReturnType<typeof agent>>

const EASTERN = ['Europe', 'Africa', 'Middle East and North Africa']
const AMERICAN = ['North America', 'Latin America']
const ASIAN = ['South Asia', 'Southeast Asia', 'East Asia', 'Oceania']

export const AGENTS: readonly AgentProfile[] = [
  agent('agt_scout_1', 'Scout-1 (EU registers)', 'discovery', EASTERN, [
    'company register',
    'trade fair list',
  ]),
  agent(
    'agt_scout_2',
    'Scout-2 (startup directories)',
    'discovery',
    [],
    ['startup directory', 'accelerator list'],
  ),
  agent(
    'agt_scout_3',
    'Scout-3 (launches and jobs)',
    'discovery',
    [],
    ['launch calendar', 'job board', 'news'],
  ),
  agent('agt_enricher_1', 'Enricher-1 (company sites)', 'enrichment'),
  agent('agt_enricher_2', 'Enricher-2 (people)', 'enrichment'),
  agent('agt_enricher_3', 'Enricher-3 (technology)', 'enrichment'),
  agent('agt_scorer_1', 'Scorer-1', 'scoring'),
  agent('agt_scorer_2', 'Scorer-2', 'scoring'),
  agent('agt_outreach_1', 'Outreach-1 (EMEA)', 'outreach', EASTERN),
  agent('agt_outreach_2', 'Outreach-2 (Americas)', 'outreach', AMERICAN),
  agent('agt_outreach_3', 'Outreach-3 (Americas)', 'outreach', AMERICAN),
  agent('agt_outreach_4', 'Outreach-4 (Asia-Pacific)', 'outreach', ASIAN),
]

/** The error messages of a failing agent, by kind. */
export const FAILURES: Readonly<Record<AgentKind, readonly string[]>> = {
  discovery: [
    'HTTP 503 from the source',
    'Search timed out after 30 s',
    'Source refused the session: login expired',
  ],
  enrichment: [
    'HTTP 429 from company site crawler',
    'DNS lookup failed for 14 of 15 company sites',
    'People search quota used up until the next window',
  ],
  scoring: ['Model endpoint answered HTTP 529: overloaded', 'Scoring timed out after 60 s'],
  outreach: [
    'SMTP 451 4.7.1 from relay: try again later',
    'Mailbox sync failed: OAuth token expired',
    'Calendar API answered HTTP 500',
  ],
}

export function agentOf(id: string): AgentProfile {
  const found = AGENTS.find((one) => one.id === id)
  if (found === undefined) throw new RangeError(`no agent ${id}`)
  return found
}

/** Picks an agent of this kind: if possible one for the region, else one for all regions, else any agent. */
export function pickAgent(kind: AgentKind, region: string | null, random: Random): AgentProfile {
  const able = AGENTS.filter((one) => one.kind === kind)
  const own = able.filter((one) => region !== null && one.regions.includes(region))
  const open = able.filter((one) => one.regions.length === 0)
  if (own.length > 0 && (open.length === 0 || random.chance(0.7))) return random.pick(own)
  return random.pick(open.length > 0 ? open : able)
}

type Texts = readonly string[]

/**
 * @param regions the regions whose leads the agent takes first; if empty, it takes leads of any region
 * @param sources the places where a discovery agent finds companies (a lead's `source`)
 */
function agent(id: string, name: string, kind: AgentKind, regions: Texts = [], sources: Texts = []) {
  return { id, name, kind, regions, sources }
}
