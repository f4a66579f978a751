/** Defines what each step changes in a lead, and which step follows. */
import type { LeadRow } from '../store/database.ts'
import { type Changes, type LeadChange, record, recordRemoval } from '../store/simulation.ts'
import { FAILURES } from './agents.ts'
import { addWorkingTime, DAY_MS, HOUR_MS, MINUTE_MS, startOfDay } from './calendar.ts'
import { inventContact } from './characters.ts'
import type { Company } from './companies.ts'
import { type Fate, fateOf } from './fate.ts'
import { inventEnrichment, type LineName, lineFor } from './lead-details.ts'
import { type Random, randomFor } from './random.ts'
import { isStep, rest, type Step, schedule } from './schedule.ts'
import type { World } from './world.ts'

interface Moment {
  readonly world: World
  readonly changes: Changes
  readonly lead: LeadRow
  readonly company: Company
  readonly fate: Fate
  readonly random: Random
  readonly at: number
  readonly agentId: string | null
}

/** The next step, and the milliseconds until the step is due; null if no step follows. */
type Next = { readonly step: Step; readonly afterMs: number } | null

/** Does the due step of a lead, and plans the next step if there is one. */
export function takeStep(world: World, changes: Changes, lead: LeadRow): void {
  const company = world.companies.get(lead.company_id)
  const { next_step: step, next_at: at, next_agent_id: agentId } = lead
  rest(lead)
  changes.leads.set(lead.id, lead)
  // If the companies' file no longer has the company, the lead stays as it is for ever.
  if (company === undefined || at === null || !isStep(step)) return
  const random = randomFor(world.seed, 'step', lead.id, lead.step_count)
  lead.step_count += 1
  const fate = fateOf(world, lead, company)
  const next = STEPS[step]({ world, changes, lead, company, random, at, agentId, fate })
  if (next === null) return
  schedule(world, lead, company.region, { step: next.step, earliestAt: at + next.afterMs }, at, random)
}

/** Plans the first step of a lead that has just been discovered. */
export function planFirstStep(world: World, lead: LeadRow, company: Company): void {
  const random = randomFor(world.seed, 'step', lead.id, 'first')
  const plan = { step: 'enrich', earliestAt: lead.created_at + queueMs(random, 0.7) } as const
  schedule(world, lead, company.region, plan, lead.created_at, random)
}

const STEPS: Readonly<Record<Step, (moment: Moment) => Next>> = {
  enrich,
  score,
  decide,
  contact,
  bounce,
  contact_again: (moment) => contact({ ...moment, fate: { ...moment.fate, bounces: false } }),
  drop,
  follow_up: (moment) => followUp(moment, true),
  last_follow_up: (moment) => followUp(moment, false),
  read_reply: readReply,
  meet,
  set_back: setBack,
  meet_again: (moment) => meet({ ...moment, fate: { ...moment.fate, isSetBack: false } }),
  negotiate,
  close,
  erase,
}

function enrich(moment: Moment): Next {
  const { world, changes, lead, company, random, at, agentId } = moment
  if (lead.step_count <= 3 && random.chance(0.04)) {
    const message = random.pick(FAILURES.enrichment)
    change(moment, { type: 'error', summary: `${message}; will be tried again` })
    if (agentId !== null) changes.agentErrors.push({ agent_id: agentId, at, message })
    return { step: 'enrich', afterMs: random.between(20, 90) * MINUTE_MS }
  }
  const person = inventContact(world.seed, company)
  change(moment, {
    type: 'enriched',
    summary: lineFor('enriched', random, { contact: person.name }),
    set: {
      status: 'enriched',
      contact_name: person.name,
      contact_title: person.title,
      contact_email: person.email,
      enrichment: JSON.stringify(inventEnrichment(world.seed, company)),
    },
  })
  return { step: 'score', afterMs: queueMs(random, 1.4) }
}

function score(moment: Moment): Next {
  const { fate, random } = moment
  change(moment, {
    type: 'scored',
    summary: lineFor('scored', random, { score: fate.score }),
    set: { score: fate.score },
  })
  return { step: 'decide', afterMs: random.between(3, 50) * MINUTE_MS }
}

function decide(moment: Moment): Next {
  const { fate, company, random } = moment
  if (fate.isQualified) {
    const value = { value_amount: fate.dealUsd, value_currency: 'USD' }
    move(moment, 'qualified', 'qualified', value)
    if (fate.stallsAt === 'qualified') return untilGivenUp(random)
    return { step: fate.isDropped ? 'drop' : 'contact', afterMs: random.between(0.2, 2.6) * DAY_MS }
  }
  move(moment, 'disqualified', company.isActive ? 'disqualified' : 'no longer operating')
  return random.chance(0.01) ? { step: 'erase', afterMs: random.between(5, 25) * DAY_MS } : null
}

function contact(moment: Moment): Next {
  const { fate, random } = moment
  move(moment, 'contacted', moment.lead.contact_email === null ? 'contacted without address' : 'contacted')
  if (fate.bounces) return { step: 'bounce', afterMs: random.between(0.01, 0.3) * DAY_MS }
  if (fate.replies && fate.replyAfterMs < 3.3 * DAY_MS)
    return { step: 'read_reply', afterMs: fate.replyAfterMs }
  return { step: 'follow_up', afterMs: random.between(2.6, 3.6) * DAY_MS }
}

/** Moves the lead back to `qualified`, because the message could not be delivered. */
function bounce(moment: Moment): Next {
  move(moment, 'qualified', 'bounced')
  return { step: 'contact_again', afterMs: moment.random.between(0.5, 3) * DAY_MS }
}

/** Disqualifies a lead that matches the criteria but must not be contacted. */
function drop(moment: Moment): Next {
  move(moment, 'disqualified', 'dropped')
  return null
}

function followUp(moment: Moment, isFirst: boolean): Next {
  const { fate, random, lead, at } = moment
  change(moment, { type: 'note', summary: lineFor(isFirst ? 'first follow-up' : 'last follow-up', random) })
  if (fate.stallsAt === 'contacted') return untilGivenUp(random)
  if (fate.replies) return { step: 'read_reply', afterMs: lead.status_changed_at + fate.replyAfterMs - at }
  if (isFirst) return { step: 'last_follow_up', afterMs: random.between(3.2, 4.4) * DAY_MS }
  return { step: 'close', afterMs: random.between(3.5, 5) * DAY_MS }
}

function readReply(moment: Moment): Next {
  const { fate, random } = moment
  move(moment, 'replied', fate.meets ? 'replied with interest' : 'replied')
  if (fate.stallsAt === 'replied') return untilGivenUp(random)
  if (fate.meets) return { step: 'meet', afterMs: fate.meetingAfterMs }
  return { step: 'close', afterMs: random.between(0.5, 4) * DAY_MS }
}

function meet(moment: Moment): Next {
  move(moment, 'meeting', 'meeting', { expected_close_at: planClose(moment) })
  if (moment.fate.isSetBack) return { step: 'set_back', afterMs: moment.random.between(1, 4) * DAY_MS }
  return { step: 'negotiate', afterMs: moment.random.between(2, 4) * DAY_MS }
}

/** Draws the working day on which the seller expects the decision. Some decisions come later, or never. */
function planClose({ world, lead, at }: Moment): number {
  const random = randomFor(world.seed, 'plan', lead.id, lead.step_count)
  return startOfDay(addWorkingTime(at, random.between(10, 30) * DAY_MS))
}

/** Moves the lead back to `replied`, because a second meeting is needed. */
function setBack(moment: Moment): Next {
  move(moment, 'replied', 'set back')
  return { step: 'meet_again', afterMs: moment.fate.meetingAfterMs }
}

function negotiate(moment: Moment): Next {
  const { fate, random, lead, at } = moment
  change(moment, { type: 'note', summary: lineFor('negotiating', random) })
  if (fate.stallsAt === 'meeting') return untilGivenUp(random)
  const decidedAt = lead.status_changed_at + fate.decisionAfterMs
  if (decidedAt - at < 5 * DAY_MS) return { step: 'close', afterMs: decidedAt - at }
  return { step: 'negotiate', afterMs: random.between(2.6, 4.4) * DAY_MS }
}

function close(moment: Moment): Next {
  const { fate, lead } = moment
  const isWon = lead.status === 'meeting' && fate.stallsAt === null && fate.wins
  move(moment, isWon ? 'won' : 'lost', isWon ? 'won' : lossOf(lead.status))
  return null
}

/** Plans to close the lead after weeks without any work on it. */
function untilGivenUp(random: Random): Next {
  return { step: 'close', afterMs: random.between(15, 75) * DAY_MS }
}

function lossOf(status: LeadRow['status']): 'lost in silence' | 'lost after reply' | 'lost after meeting' {
  if (status === 'qualified' || status === 'contacted') return 'lost in silence'
  return status === 'replied' ? 'lost after reply' : 'lost after meeting'
}

/** Deletes the lead, because its contact demands to be erased. */
function erase({ changes, lead, at }: Moment): Next {
  recordRemoval(changes, lead, at, 'erased at the request of the contact')
  return null
}

/** Moves the lead to a status, with one of the activity texts for the occasion. */
function move(
  moment: Moment,
  status: LeadRow['status'],
  occasion: LineName,
  more: Partial<LeadRow> = {},
): void {
  const { lead, fate, random } = moment
  const values = { score: fate.score, contact: lead.contact_name ?? 'the company' }
  change(moment, {
    type: 'status_changed',
    summary: lineFor(occasion, random, values),
    set: { status, ...more },
  })
}

function change(moment: Moment, made: Omit<LeadChange, 'at' | 'agentId'>): void {
  record(moment.changes, moment.lead, { ...made, at: moment.at, agentId: moment.agentId })
}

/** Draws how many milliseconds a lead waits for an automatic step. */
function queueMs(random: Random, medianHours: number): number {
  return Math.min(10, Math.max(0.05, random.spread(medianHours, 0.9))) * HOUR_MS
}
