/** `leadsheet leads list --as-of`: the leads at a past moment, from the local copy; the service only knows the present. */
import { LeadsheetError } from '../errors.ts'
import type { Instant } from '../model.ts'
import { startOfDay } from '../schedule/zone.ts'
import type { Db } from '../store/db/store.ts'
import {
  countUnknownAsOf,
  findHistoryStart,
  listLeadsAsOf,
  type PastFilter,
  type PastLead,
} from '../store/leads/lead-as-of.ts'
import { openDataIfThere } from './installation.ts'
import { type Column, formatInstant, formatMoney } from './table.ts'
import type { Terminal } from './terminal.ts'

const DAY_MS = 86_400_000

const COLUMNS: readonly Column<PastLead>[] = [
  { title: 'ID', value: (lead) => lead.id, isWhole: true },
  { title: 'COMPANY NOW', value: (lead) => lead.company_name },
  { title: 'STATUS', value: (lead) => lead.status, isWhole: true },
  { title: 'SCORE', value: (lead) => lead.score },
  { title: 'SINCE', value: (lead) => formatInstant(lead.valid_from), isWhole: true },
  { title: 'VALUE', value: (lead) => formatMoney(lead.value_amount, lead.value_currency), isOptional: true },
  { title: 'PIPELINE', value: (lead) => lead.pipeline_id, isOptional: true },
  { title: 'COUNTRY NOW', value: (lead) => lead.company_country, isOptional: true },
  { title: 'CONTACT NOW', value: (lead) => lead.contact_name, isOptional: true },
]

export interface AsOfOptions extends PastFilter {
  /** A day, or an instant. */
  readonly asOf: string
  /** Null for all. */
  readonly limit: number | null
}

/** @throws LeadsheetError usage_invalid, history_missing, store_* */
export async function listPastLeads(
  terminal: Terminal,
  { asOf, limit, ...filter }: AsOfOptions,
): Promise<void> {
  const config = await terminal.config()
  const at = momentOf(asOf, config.timeZone, new Date())
  await using store = await openDataIfThere(config)
  const { firstSync } = await requireHistory(store.db, at)
  const { leads, total } = await listLeadsAsOf(store.db, at, filter, limit)
  const unknown = await countUnknownAsOf(store.db, at)
  if (terminal.json) {
    terminal.printJson({ as_of: at, first_sync: firstSync, data: leads, total, unknown })
    return
  }
  if (leads.length > 0) await terminal.printTable(COLUMNS, leads)
  const day = isDay(asOf) ? `the end of ${asOf} in ${config.timeZone}, ` : ''
  terminal.note(`${leads.length} of ${total} leads as of ${day}${formatInstant(at)}`)
  if (unknown > 0) {
    terminal.note(`Not listed: ${unknown} created by then, of which it is not known what they were.`)
  }
  if (firstSync !== null && at < firstSync) {
    terminal.note(
      `Before the first sync (${formatInstant(firstSync)}) a lead is known from its last change of status on.`,
    )
  }
}

/** The last moment of a day in the time zone, though never one to come; an instant as it is. */
function momentOf(asOf: string, timeZone: string, now: Date): Instant {
  const day = Date.parse(asOf) / DAY_MS
  const begins = isDay(asOf) ? startOfDay(day, timeZone) : Date.parse(asOf)
  if (begins > now.getTime()) {
    throw new LeadsheetError('usage_invalid', `--as-of ${asOf} is still to come`)
  }
  const last = isDay(asOf) ? startOfDay(day + 1, timeZone) - 1 : begins
  return new Date(Math.min(last, now.getTime())).toISOString()
}

function isDay(asOf: string): boolean {
  return asOf.length === 'YYYY-MM-DD'.length
}

async function requireHistory(db: Db, at: Instant): Promise<{ firstSync: Instant | null }> {
  const { firstState, firstSync } = await findHistoryStart(db)
  if (firstState !== null && firstState <= at) return { firstSync }
  const known =
    firstState === null
      ? 'no sync has read any yet'
      : `the first state known is of ${formatInstant(firstState)}`
  throw new LeadsheetError(
    'history_missing',
    `Nothing is known of the leads at ${formatInstant(at)}: ${known}`,
    {
      hint: 'History begins with the first sync, and reaches back to each lead’s last change of status before it.',
    },
  )
}
