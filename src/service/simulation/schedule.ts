/** Defines the possible steps of a lead, and decides when a step is done and by which agent. */
import type { LeadRow } from '../store/database.ts'
import { type AgentKind, type AgentProfile, agentOf, pickAgent } from './agents.ts'
import { addWorkingTime, HOUR_MS, intoOfficeHours, MINUTE_MS } from './calendar.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

interface Work {
  readonly kind: AgentKind
  /** The type of the task that the agent shows while it does the step. */
  readonly task: string
  /** The minimum and maximum working time in minutes. */
  readonly minutes: readonly [number, number]
  /** True if the work is done only in the office hours of the company's region. */
  readonly isOffice: boolean
}

export const WORK = {
  enrich: { kind: 'enrichment', task: 'enrich_company', minutes: [15, 40], isOffice: false },
  score: { kind: 'scoring', task: 'score_lead', minutes: [8, 22], isOffice: false },
  decide: { kind: 'scoring', task: 'qualify_lead', minutes: [3, 10], isOffice: false },
  contact: { kind: 'outreach', task: 'write_message', minutes: [20, 50], isOffice: true },
  bounce: { kind: 'outreach', task: 'find_address', minutes: [5, 15], isOffice: true },
  contact_again: { kind: 'outreach', task: 'write_message', minutes: [20, 50], isOffice: true },
  drop: { kind: 'outreach', task: 'check_before_contact', minutes: [5, 15], isOffice: true },
  follow_up: { kind: 'outreach', task: 'write_follow_up', minutes: [10, 30], isOffice: true },
  last_follow_up: { kind: 'outreach', task: 'write_follow_up', minutes: [10, 30], isOffice: true },
  read_reply: { kind: 'outreach', task: 'read_reply', minutes: [4, 15], isOffice: true },
  meet: { kind: 'outreach', task: 'prepare_meeting', minutes: [20, 50], isOffice: true },
  set_back: { kind: 'outreach', task: 'read_reply', minutes: [4, 15], isOffice: true },
  meet_again: { kind: 'outreach', task: 'prepare_meeting', minutes: [20, 50], isOffice: true },
  negotiate: { kind: 'outreach', task: 'negotiate', minutes: [10, 30], isOffice: true },
  close: { kind: 'outreach', task: 'close_lead', minutes: [5, 15], isOffice: true },
  erase: { kind: 'enrichment', task: 'erase_data', minutes: [1, 3], isOffice: true },
} as const satisfies Record<string, Work>
export type Step = keyof typeof WORK

export function isStep(name: string | null): name is Step {
  return name !== null && name in WORK
}

interface Plan {
  readonly step: Step
  /** The earliest instant of the step. Office hours and incidents can delay the step further. */
  readonly earliestAt: number
}

/** @param now the simulated time at which the step is planned */
export function schedule(
  world: World,
  lead: LeadRow,
  region: string | null,
  plan: Plan,
  now: number,
  random: Random,
): void {
  const work: Work = WORK[plan.step]
  const agent = keptAgent(lead, work.kind) ?? pickAgent(work.kind, region, random)
  const afterMs = Math.max(plan.earliestAt - now, MINUTE_MS)
  let at = Math.round(work.isOffice ? addWorkingTime(now, afterMs) : now + afterMs)
  let freeFrom = now
  // Each pass of the loop moves the step past one incident. Incidents start at most once a day, so one or two
  // passes are enough.
  for (let settled = false; !settled; ) {
    if (work.isOffice) at = intoOfficeHours(at, region, Math.round(random.between(0.05, 2.5) * HOUR_MS))
    const outage = world.incidents.duringWork(agent.id, at)
    settled = outage === undefined
    if (outage !== undefined) {
      freeFrom = outage.endsAt
      at = outage.endsAt + Math.round(random.between(2, 45) * MINUTE_MS)
    }
  }
  const workMs = Math.round(random.between(...work.minutes) * MINUTE_MS)
  lead.next_step = plan.step
  lead.next_at = at
  lead.next_agent_id = agent.id
  lead.next_task_at = Math.max(now, freeFrom, at - workMs)
}

/** Ends the lead's plan: no step follows. */
export function rest(lead: LeadRow): void {
  lead.next_step = null
  lead.next_at = null
  lead.next_agent_id = null
  lead.next_task_at = null
}

/** Outreach agents keep a lead to the end. Undefined if the last agent or the step was of another kind. */
function keptAgent(lead: LeadRow, kind: AgentKind): AgentProfile | undefined {
  const last = lead.agent_id === null ? undefined : agentOf(lead.agent_id)
  return kind === 'outreach' && last?.kind === 'outreach' ? last : undefined
}
