/** `leadsheet sync`: brings the local copy of the leads up to date, once. */
import { type Command, Option } from 'commander'
import { syncOptions } from '../../../app/configured-upstream.ts'
import { openData } from '../../../app/installation.ts'
import { inSnakeCase } from '../../../domain/names.ts'
import type { ScanResult, SyncPart, SyncProgress, SyncResult } from '../../../domain/sync.ts'
import { ERROR_CODES, type ErrorCode, LeadsheetError, shellCommand } from '../../../errors.ts'
import { SYNC_PARTS, sync } from '../../../jobs/sync/run-sync.ts'
import { counted, englishCount } from '../../../report/words/numbers.ts'
import type { Store } from '../../../store/db/store.ts'
import { listCompleteFullScans } from '../../../store/sync/watermark.ts'
import { addExamples } from '../../command.ts'
import type { Ending } from '../../exit-status.ts'
import { requireYes, type Terminal } from '../../terminal/terminal.ts'
import { publishAfterwards, publishedLine } from '../analysis/snapshot.ts'
import { withSource } from './with-source.ts'

interface Options {
  readonly new?: boolean
  readonly full?: boolean
  readonly only?: SyncPart
  readonly acceptDeletions?: boolean
  readonly yes?: boolean
}

const ENDINGS = {
  ok: 'done',
  ok_no_change: 'done',
  partial: 'partly',
  deferred: 'deferred',
  failed: 'failed',
} as const

export function defineSync(command: Command, terminal: Terminal): void {
  command
    .option('--full', 'read all leads, not only those changed since the last sync')
    .addOption(new Option('--only <part>', 'sync only this part').choices(SYNC_PARTS))
    .option(
      '--accept-deletions',
      'with --full: mark as deleted the leads that the last complete scan did not find',
    )
    .option(
      '--new',
      'start with a new database, because the earlier database is lost; or read the stored leads from a new api.url',
    )
    .option('--yes', 'with --accept-deletions: confirm it, once you have read how many leads it concerns')
    .action((options: Options) => runSync(terminal, options))
  addExamples(command, [
    'sync',
    'sync --full',
    'sync --full --accept-deletions --yes',
    'sync --only agents',
    'sync --json | jq .data.leads.inserted',
  ])
}

async function runSync(terminal: Terminal, options: Options): Promise<void> {
  refuseFullWithout(options)
  const config = await terminal.config()
  const log = await terminal.log()
  await withSource(terminal, async (source) => {
    await using store = await openData(config, { log, signal: terminal.signal, isNew: options.new === true })
    const acceptsDeletions = options.acceptDeletions === true
    if (acceptsDeletions) await confirmDeletions(terminal, store, options)
    const result = await withProgress(terminal, (onProgress) =>
      sync(
        { source, store, log, now: () => new Date() },
        {
          ...syncOptions(config, terminal.signal),
          full: options.full === true,
          acceptsDeletions,
          acceptsAddress: options.new === true,
          parts: options.only === undefined ? SYNC_PARTS : [options.only],
          onProgress,
        },
      ),
    )
    showSync(terminal, result)
    const published = await publishAfterwards(terminal, store)
    if (published && !terminal.json) terminal.print(`snapshot: ${publishedLine(published)}`)
  })
}

/** @throws LeadsheetError usage_invalid if `--full` is combined with a part other than leads */
function refuseFullWithout({ full, only }: Options): void {
  if (full !== true || only === undefined || only === 'leads') return
  throw new LeadsheetError('usage_invalid', `--full reads all leads, and --only ${only} reads none`, {
    hint: `Leave out --full, or --only ${only}.`,
  })
}

/** Runs a sync and shows its progress: pages, leads, rate and time left. */
export async function withProgress<T>(
  terminal: Pick<Terminal, 'progress'>,
  work: (onProgress: (progress: SyncProgress) => void) => Promise<T>,
): Promise<T> {
  using bar = await terminal.progress('Syncing')
  // Without `await`, the progress bar would be closed before the work has finished.
  return await work(({ part, pages, done, total }) => {
    if (part === 'leads') bar.update(done, total, `leads, ${pages} pages`)
    if (part === 'details') bar.update(done, total, 'details')
  })
}

/**
 * Makes sure that leads that the last complete scan did not find may be marked as deleted.
 * @throws LeadsheetError usage_invalid if there is nothing to confirm, or without `--yes`
 */
async function confirmDeletions(terminal: Terminal, { db }: Store, options: Options): Promise<void> {
  if (options.full !== true || options.only !== undefined) {
    throw new LeadsheetError('usage_invalid', '--accept-deletions needs a sync that reads all leads', {
      hint: 'Add --full, and leave out --only.',
    })
  }
  const [scan] = await listCompleteFullScans(db, 1)
  if (scan === undefined || scan.heldBack === 0) {
    throw new LeadsheetError(
      'usage_invalid',
      'The last complete scan held back no deleted leads: there is nothing to accept',
      {
        hint: `${shellCommand('sync --full')} marks leads as deleted that two complete scans in a row did not find.`,
      },
    )
  }
  const missed = englishCount(scan.heldBack)
  const question = `${missed} of ${englishCount(scan.leads + scan.heldBack)} leads were missing from the last complete scan; those that this scan does not find either are marked as deleted.`
  requireYes(terminal, question, options.yes === true)
}

/** Shows what a sync did. If it could do nothing, only its JSON is shown, and its first problem is thrown. */
function showSync(terminal: Terminal, result: SyncResult): void {
  const [first] = result.problems
  if (first && (result.outcome === 'failed' || result.outcome === 'deferred')) {
    terminal.show({ data: syncJson(result) })
    const notBefore = result.notBefore === null ? {} : { notBefore: result.notBefore }
    throw new LeadsheetError(codeOf(first.code), first.message, {
      ...(first.hint !== null && { hint: first.hint }),
      ...notBefore,
    })
  }
  terminal.end(endingOf(result))
  terminal.show({ data: syncJson(result), text: [summary(result).join('\n')], notes: notesOf(result) })
}

function notesOf({ problems, scan, leads }: SyncResult): string[] {
  const { quarantined } = leads
  const records = quarantined === 1 ? '1 record' : `${quarantined} records`
  const unread = `warning: ${records} could not be read: see the table quarantined_record`
  return [
    ...problems.flatMap(({ part, message, hint }) => [
      `warning: ${part}: ${message}`,
      ...(hint === null ? [] : [`hint: ${hint}`]),
    ]),
    ...(scan?.warnings ?? []).map((warning) => `warning: leads: ${warning}`),
    ...driftLines(scan).map((drift) => `drift: ${drift}`),
    ...(quarantined > 0 ? [unread] : []),
  ]
}

export function endingOf(result: SyncResult): Ending {
  return result.leads.quarantined > 0 && result.complete ? 'partly' : ENDINGS[result.outcome]
}

function codeOf(code: string): ErrorCode {
  return Object.keys(ERROR_CODES).find((known): known is ErrorCode => known === code) ?? 'api_unexpected'
}

export function summary(result: SyncResult): string[] {
  const { leads } = result
  const changes = [
    `${englishCount(leads.inserted)} new`,
    `${englishCount(leads.updated)} changed`,
    `${englishCount(leads.unchanged)} unchanged`,
    leads.deleted > 0 ? `${englishCount(leads.deleted)} deleted` : '',
    leads.quarantined > 0 ? `${englishCount(leads.quarantined)} quarantined` : '',
  ].filter((text) => text !== '')
  const stats = result.stats > 0 ? [counted(result.stats, 'pipeline')] : []
  const beside = result.agents > 0 ? [...stats, counted(result.agents, 'agent')] : stats
  const seconds = (result.durationMs / 1000).toFixed(1)
  const retries = result.retries > 0 ? `, ${result.retries} retries` : ''
  return [
    `${counted(leads.seen, 'lead')} read: ${changes.join(', ')}`,
    ...(result.scan === null ? [] : [scanLine(result.scan)]),
    ...(beside.length === 0 ? [] : [`${beside.join(' and ')} read`]),
    ...detailLines(result.details),
    `${counted(result.requests, 'request')}${retries} in ${seconds} s; run ${result.runId}${result.complete ? '' : ', not complete'}`,
  ]
}

function detailLines({ read, notFound, failed }: SyncResult['details']): string[] {
  if (read + notFound + failed === 0) return []
  const others = [
    notFound > 0 ? `${notFound} not found` : '',
    failed > 0 ? `${failed} failed and will be retried` : '',
  ]
  const rest = others.filter((text) => text !== '').join(', ')
  return [`details of ${counted(read, 'lead')} read${rest && `; ${rest}`}`]
}

/** Formats a scan: `full scan complete: 3,009 leads on 31 pages, …`. */
function scanLine(scan: ScanResult): string {
  const total =
    scan.reportedTotal === null ? '' : `, ${englishCount(scan.reportedTotal)} by the service's own count`
  const again = scan.passes > 1 ? `, read ${scan.passes} times to make sure` : ''
  return `${scan.mode} scan ${scan.result}: ${counted(scan.distinct, 'lead')} on ${counted(scan.pages, 'page')}${total}${again}`
}

/** Lists upstream fields that are new, have vanished or have another type, one line for each kind. */
function driftLines(scan: ScanResult | null): string[] {
  const drift = scan?.drift ?? []
  return (['new', 'vanished', 'retyped'] as const).flatMap((change) => {
    const fields = drift.filter((field) => field.change === change)
    const named = fields.map(({ path, types }) =>
      change === 'retyped' ? `${path} (${types.join(', ')})` : path,
    )
    return fields.length === 0 ? [] : [`${change} fields: ${named.join(', ')}`]
  })
}

function syncJson({ scan, details, ...result }: SyncResult) {
  return { ...inSnakeCase(result), scan: scan && inSnakeCase(scan), details: inSnakeCase(details) }
}
