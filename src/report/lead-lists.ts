/** The two lists of leads: the best new ones, and those that have stood still longest. */
import type { DailyFigures, StalledLead, TopLead } from '../model.ts'
import { coverageOf } from './coverage.ts'
import { formatCount, formatMoney } from './format.ts'
import { words } from './messages.ts'
import { capitalise, oneLine, oneLineOrNull } from './text.ts'

/** Longer lists belong into the database, not into a mail. */
const ROWS = 5
const NAME_LENGTH = 60
const PIPELINE_LENGTH = 24
// Bound to what is before it, so that no line begins with it.
const SEPARATOR = '\u00a0· '
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

export function composeTopLeads(figures: DailyFigures): TopLeadsView {
  const { topLeads, pipelines } = figures
  const shown = topLeads.rows.slice(0, ROWS)
  return {
    title: words.topLeads.title,
    note: noteOfTop(figures, shown.length),
    columns: { lead: words.topLeads.lead, score: words.topLeads.score },
    leads: shown.map((lead) => ({
      company: oneLine(lead.companyName, NAME_LENGTH),
      person: describe(lead, pipelines),
      oneLiner: oneLineOrNull(lead.companyOneLiner, ONE_LINER_LENGTH) ?? '',
      score: formatCount(lead.score),
    })),
  }
}

/** Says "none" only of a day that has been read. */
function noteOfTop(figures: DailyFigures, shown: number): string {
  const { minScore, total } = figures.topLeads
  if (total === 0) {
    return coverageOf(figures) === 'none' ? words.topLeads.unread : words.topLeads.empty(minScore)
  }
  return shown < total ? words.topLeads.some(shown, total, minScore) : words.topLeads.all(total, minScore)
}

export function composeStalled({ stalled, pipelines, freshness }: DailyFigures): StalledView {
  const shown = stalled.rows.slice(0, ROWS)
  const { total, days } = stalled
  const none = freshness.dataAsOf === null ? words.stalled.unread : words.stalled.empty(days)
  return {
    title: words.stalled.title,
    note: total === 0 ? none : words.stalled.some(days),
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
  return pipelines.length > 1 ? oneLineOrNull(lead.pipelineName, PIPELINE_LENGTH) : null
}

function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join(SEPARATOR)
}
