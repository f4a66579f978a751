/** `leadsheet leads`: the leads as the service has them at this moment, past the local copy; or as they once were. */
import { type Command, Option } from 'commander'
import { LEAD_SORTS, PAGE_LIMIT_MAX } from '../contract/lead.ts'
import type { Lead } from '../model.ts'
import type { RawRecord } from '../upstream/mapping/raw-record.ts'
import type { RawPage, Source } from '../upstream/source.ts'
import { collect, dayOrInstant, instant, wholeNumber } from './arguments.ts'
import { addExamples } from './command.ts'
import { showLead } from './lead-detail.ts'
import { listPastLeads } from './leads-as-of.ts'
import { NO_PROGRESS } from './progress.ts'
import { type Column, formatInstant, formatMoney } from './table.ts'
import type { Terminal } from './terminal.ts'
import { keepReadable, withSource } from './upstream.ts'

const PAGE_DEFAULT = 25

interface ListOptions {
  readonly pipeline?: string
  readonly status?: readonly string[]
  readonly updatedSince?: string
  readonly createdSince?: string
  readonly minScore?: number
  readonly q?: string
  readonly sort: string
  readonly limit: number
  readonly cursor?: string
  readonly all?: boolean
  readonly asOf?: string
}

const COLUMNS: readonly Column<Lead>[] = [
  { title: 'ID', value: (lead) => lead.id, isWhole: true },
  { title: 'COMPANY', value: (lead) => lead.companyName },
  { title: 'STATUS', value: (lead) => lead.status, isWhole: true },
  { title: 'SCORE', value: (lead) => lead.score },
  { title: 'UPDATED', value: (lead) => formatInstant(lead.updatedAt), isWhole: true },
  { title: 'VALUE', value: (lead) => formatMoney(lead.valueAmount, lead.valueCurrency), isOptional: true },
  { title: 'PIPELINE', value: (lead) => lead.pipelineId, isOptional: true },
  { title: 'COUNTRY', value: (lead) => lead.companyCountry, isOptional: true },
  { title: 'CONTACT', value: (lead) => lead.contactName, isOptional: true },
]

export function defineLeads(command: Command, terminal: Terminal): void {
  const list = command
    .command('list')
    .description('list leads, a page at a time')
    .option('--pipeline <id>', 'only of this pipeline')
    .option('--status <status>', 'only with this status; may be given several times', collect)
    .option('--updated-since <time>', 'changed at or after this day or time', instant)
    .option('--created-since <time>', 'created at or after this day or time', instant)
    .option('--min-score <number>', 'with this score or more', wholeNumber(0, 100))
    .option('--q <words>', 'with these words in company or contact')
    .addOption(new Option('--sort <order>', 'their order').choices(LEAD_SORTS).default('-updated_at'))
    .option('--limit <number>', 'leads on the page', wholeNumber(1, PAGE_LIMIT_MAX), PAGE_DEFAULT)
    .option('--cursor <cursor>', 'the page that the one before pointed to')
    .option('--all', 'all pages, from the cursor on if there is one')
    .addOption(
      new Option('--as-of <time>', 'as they were at the end of this day, or at this time, by the local copy')
        .argParser(dayOrInstant)
        .conflicts(['updatedSince', 'createdSince', 'q', 'sort', 'cursor']),
    )
    .action((options: ListOptions) => runList(terminal, options))
  addExamples(list, [
    'leads list --status replied --status meeting --min-score 80',
    'leads list --updated-since 2026-11-20 --sort=-score',
    'leads list --q robotics --all --json > robotics.json',
    'leads list --as-of 2026-11-15 --status contacted',
  ])

  const show = command
    .command('show')
    .description('show one lead with its enrichment and its history')
    .argument('<id>', 'id of the lead')
    .action((id: string) => withSource(terminal, (source) => showLead(terminal, source, id)))
  addExamples(show, ['leads show ld_01', 'leads show ld_01 --json'])
}

async function runList(terminal: Terminal, options: ListOptions): Promise<void> {
  const { asOf, pipeline, status, minScore, limit, all } = options
  if (asOf === undefined) await withSource(terminal, (source) => listLeads(terminal, source, options))
  else {
    const filter = { pipelineId: pipeline, statuses: status, minScore }
    await listPastLeads(terminal, { asOf, limit: all ? null : limit, ...filter })
  }
}

async function listLeads(terminal: Terminal, source: Source, options: ListOptions): Promise<void> {
  const { records, next, total } = await fetchPages(terminal, source, options)
  if (terminal.json) {
    const page = { next_cursor: next, has_more: next !== null, total }
    terminal.printJson({ data: records.map((record) => record.value), page })
    return
  }
  const leads = keepReadable(
    terminal,
    records.map((record) => source.mapLead(record.value, record.text)),
  )
  if (leads.length > 0) await terminal.printTable(COLUMNS, leads)
  const count = total === null ? `${records.length} leads` : `${records.length} of ${total} leads`
  terminal.note(next === null ? count : `${count}; more with --cursor ${next}, or --all`)
}

/** One page, or with `--all` that one and all after it, as a single one. */
async function fetchPages(terminal: Terminal, source: Source, options: ListOptions): Promise<RawPage> {
  const { pipeline, all, cursor = null, limit, ...filters } = options
  const size = all ? (await terminal.config()).api.pageSize : limit
  using progress = all ? await terminal.progress('Leads') : NO_PROGRESS
  const records: RawRecord[] = []
  let next: string | null = cursor
  let total: number | null = null
  do {
    const page = await source.listLeads({ ...filters, pipelineId: pipeline }, next, size, {
      signal: terminal.signal,
    })
    records.push(...page.records)
    next = page.next
    total = page.total
    progress.update(records.length, total)
  } while (all && next !== null)
  return { records, next, total }
}
