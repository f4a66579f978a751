/** `leadsheet leads`: lists leads of the local copy. With `--remote`, the command lists those of the upstream. */
import { type Command, Option } from 'commander'
import { openDataToRead } from '../../../app/installation.ts'
import { LEAD_SORTS, PAGE_LIMIT_MAX } from '../../../contract/lead.ts'
import type { Lead } from '../../../domain/model.ts'
import { inSnakeCase, type SnakeCase } from '../../../domain/names.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { readFieldsByName } from '../../../store/leads/declared-fields.ts'
import { type LocalLeadLine, listLocalLeads } from '../../../store/leads/local-lead.ts'
import type { RawRecord } from '../../../upstream/mapping/raw-record.ts'
import type { RawPage } from '../../../upstream/paging/raw-page.ts'
import type { Source } from '../../../upstream/source.ts'
import { addExamples, collect, instant, showing, wholeNumber } from '../../command.ts'
import { type Column, formatInstant, formatMoney, table } from '../../terminal/table.ts'
import { NO_PROGRESS, type Result, type Terminal } from '../../terminal/terminal.ts'
import { fetchRemoteLead, findLocalLead } from './lead-detail.ts'
import { keepReadable, withSource } from './with-source.ts'

const PAGE_DEFAULT = 25

interface ListOptions {
  readonly pipeline?: string
  readonly status?: readonly string[]
  readonly updatedSince?: string
  readonly createdSince?: string
  readonly minScore?: number
  readonly q?: string
  readonly sort?: string
  readonly limit: number
  readonly cursor?: string
  readonly all?: boolean
  readonly remote?: boolean
}

/** The columns of leads of the local copy, and of those that the upstream has. */
const COLUMNS: readonly Column<Pick<SnakeCase<Lead>, keyof LocalLeadLine & keyof SnakeCase<Lead>>>[] = [
  { title: 'ID', value: (lead) => lead.id },
  { title: 'COMPANY', value: (lead) => lead.company_name },
  { title: 'STATUS', value: (lead) => lead.status },
  { title: 'SCORE', value: (lead) => lead.score },
  { title: 'UPDATED', value: (lead) => formatInstant(lead.updated_at) },
  { title: 'VALUE', value: (lead) => formatMoney(lead.value_amount, lead.value_currency) },
  { title: 'OWNER', value: (lead) => lead.owner },
  { title: 'PIPELINE', value: (lead) => lead.pipeline_id },
  { title: 'COUNTRY', value: (lead) => lead.company_country },
  { title: 'CONTACT', value: (lead) => lead.contact_name },
]

export function defineLeads(command: Command, terminal: Terminal): void {
  const list = command
    .command('list')
    .description('list leads of the local copy, last changed first; with --remote, of the upstream')
    .option('--remote', 'ask the upstream, one page at a time')
    .option('--pipeline <id>', 'only leads of this pipeline')
    .option('--status <status>', 'only leads with this status; may be repeated', collect)
    .option('--min-score <number>', 'only leads with at least this score, 0 to 100', wholeNumber(0, 100))
    .option('--limit <number>', 'most leads to list', wholeNumber(1, PAGE_LIMIT_MAX), PAGE_DEFAULT)
    .option('--all', 'list all leads; with --cursor, all from the cursor on')
    .option(
      '--updated-since <time>',
      'with --remote: only leads changed at or after this day or time',
      instant,
    )
    .option(
      '--created-since <time>',
      'with --remote: only leads created at or after this day or time',
      instant,
    )
    .option('--q <words>', 'with --remote: only leads with these words in company or contact')
    .addOption(
      new Option('--sort <order>', 'with --remote: order of the leads; - means descending').choices(
        LEAD_SORTS,
      ),
    )
    .option('--cursor <cursor>', 'with --remote: start at this cursor, which the previous page returned')
    .action(showing(terminal, listLeads))
  addExamples(list, [
    'leads list --status replied --status meeting --min-score 80',
    'leads list --remote --updated-since 2026-11-20 --sort=-score',
    'leads list --remote --q robotics --all --json > robotics.json',
  ])

  const show = command
    .command('show')
    .description('show one lead of the local copy with its enrichment and history')
    .argument('<id>', 'id of the lead')
    .option('--remote', 'show the lead as the upstream has it now')
    .action(async (id: string, { remote }: { remote?: boolean }) =>
      terminal.show(
        remote
          ? await withSource(terminal, (source) => fetchRemoteLead(terminal, source, id), 'reads')
          : await findLocalLead(terminal, id),
      ),
    )
  addExamples(show, ['leads show ld_01', 'leads show ld_01 --remote --json'])
}

async function listLeads(terminal: Terminal, options: ListOptions): Promise<Result> {
  if (options.remote) return withSource(terminal, (source) => fetchLeads(terminal, source, options), 'reads')
  refuseRemoteOptions(options)
  const { pipeline, status, minScore, limit, all } = options
  await using store = await openDataToRead(await terminal.dataConfig())
  const filter = { pipelineId: pipeline, statuses: status, minScore }
  const { leads, total } = await listLocalLeads(store.db, filter, all ? null : limit)
  const fields = await readFieldsByName(
    store.db,
    leads.map(({ id }) => id),
  )
  return {
    data: leads.map((lead) => (fields.has(lead.id) ? { ...lead, fields: fields.get(lead.id) } : lead)),
    meta: { total },
    text: [table(leads, COLUMNS)],
    notes: [`${leads.length} of ${total} leads`],
  }
}

/** @throws LeadsheetError usage_invalid if an option is given that needs `--remote` */
function refuseRemoteOptions({ updatedSince, createdSince, q, sort, cursor }: ListOptions): void {
  const given = { 'updated-since': updatedSince, 'created-since': createdSince, q, sort, cursor }
  const [other] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (other === undefined) return
  throw new LeadsheetError('usage_invalid', `--${other}: found it without --remote`, {
    hint: `Add --remote, or query the local copy with ${shellCommand('query')}.`,
  })
}

async function fetchLeads(terminal: Terminal, source: Source, options: ListOptions): Promise<Result> {
  const { records, next, total } = await fetchPages(terminal, source, options)
  const mapped = records.map((record) => source.mapLead(record.value, record.text))
  const { readable, notes } = keepReadable(terminal, mapped)
  const count = total === null ? `${records.length} leads` : `${records.length} of ${total} leads`
  return {
    data: records.map((record) => record.value),
    meta: { page: { next_cursor: next, has_more: next !== null, total } },
    text: [table(readable.map(inSnakeCase), COLUMNS)],
    notes: [...notes, next === null ? count : `${count}; more with --cursor ${next}, or --all`],
  }
}

/** Fetches one page. With `--all`, fetches all later pages too and joins them into one page. */
async function fetchPages(terminal: Terminal, source: Source, options: ListOptions): Promise<RawPage> {
  const { pipeline, all, cursor = null, limit, remote: _, sort = '-updated_at', ...filters } = options
  const size = all ? (await terminal.config()).api.pageSize : limit
  using progress = all ? await terminal.progress('Leads') : NO_PROGRESS
  const records: RawRecord[] = []
  let next: string | null = cursor
  let total: number | null = null
  do {
    const page = await source.listLeads({ ...filters, sort, pipelineId: pipeline }, next, size, {
      signal: terminal.signal,
    })
    records.push(...page.records)
    next = page.next
    total = page.total
    progress.update(records.length, total)
  } while (all && next !== null)
  return { records, next, total }
}
