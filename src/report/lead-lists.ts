/** The two lists of leads: the best new ones, and those that have stood still longest. */
import type { DailyFigures, StalledLead, TopLead } from '../model.ts'
import { formatCount, formatMoney } from './format.ts'
import { words } from './messages.ts'
import { capitalise, oneLine, oneLineOrNull } from './text.ts'

/** Longer lists belong into the database, not into a mail. */
const ROWS = 5
const NAME_LENGTH = 60
const ONE_LINER_LENGTH = 90

export interface TopLeadsView {
  readonly title: string
  readonly note: string
  readonly columns: { readonly lead: string; readonly score: string }
  readonly leads: readonly { company: string; person: string; oneLiner: string; score: string }[]
}

export interface StalledView {
  readonly title: string
  readonly note: string
  readonly columns: { readonly lead: string; readonly stage: string; readonly idle: string }
  readonly leads: readonly { company: string; person: string; stage: string; idle: string; value: string }[]
  /** What the list leaves out; empty when it is whole. */
  readonly more: string
}

export function composeTopLeads({ topLeads, pipelines }: DailyFigures): TopLeadsView {
  const shown = topLeads.rows.slice(0, ROWS)
  const { minScore, total } = topLeads
  return {
    title: words.topLeads.title,
    note:
      total === 0
        ? words.topLeads.empty(minScore)
        : shown.length < total
          ? words.topLeads.some(shown.length, total, minScore)
          : words.topLeads.all(total, minScore),
    columns: { lead: words.topLeads.lead, score: words.topLeads.score },
    leads: shown.map((lead) => ({
      company: oneLine(lead.companyName, NAME_LENGTH),
      person: describe(lead, pipelines),
      oneLiner: oneLineOrNull(lead.companyOneLiner, ONE_LINER_LENGTH) ?? '',
      score: formatCount(lead.score),
    })),
  }
}

export function composeStalled({ stalled, pipelines }: DailyFigures): StalledView {
  const shown = stalled.rows.slice(0, ROWS)
  const { total, days } = stalled
  return {
    title: words.stalled.title,
    note: total === 0 ? words.stalled.empty(days) : words.stalled.some(days),
    columns: { lead: words.stalled.lead, stage: words.stalled.stage, idle: words.stalled.idle },
    leads: shown.map((lead) => ({
      company: oneLine(lead.companyName, NAME_LENGTH),
      person: joined([oneLineOrNull(lead.contactName, NAME_LENGTH), pipelineOf(lead, pipelines)]),
      stage: capitalise(lead.status),
      idle: words.stalled.days(lead.idleDays),
      value: lead.value ? formatMoney(lead.value) : '',
    })),
    more: total > shown.length ? words.stalled.more(total - shown.length) : '',
  }
}

/** `Maria Štefan, Head of Operations · Germany · EU mid-market`, as far as it is known. */
function describe(lead: TopLead, pipelines: readonly string[]): string {
  const contact = [lead.contactName, lead.contactTitle].map((text) => oneLineOrNull(text, NAME_LENGTH))
  return joined([
    contact.filter((part) => part !== null).join(', ') || null,
    oneLineOrNull(lead.companyCountry, NAME_LENGTH),
    pipelineOf(lead, pipelines),
  ])
}

/** Named only where there is more than one that it could be. */
function pipelineOf(lead: TopLead | StalledLead, pipelines: readonly string[]): string | null {
  return pipelines.length > 1 ? oneLineOrNull(lead.pipelineName, NAME_LENGTH) : null
}

function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join(' · ')
}
