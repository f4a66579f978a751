/** `leadsheet report`: makes the edition of a day; looks at it by default, sends it only when told to. */
import { writeFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import type { Command } from 'commander'
import { requireMail } from '../config/requirements.ts'
import { errorText, LeadsheetError } from '../errors.ts'
import {
  contentFor,
  type DeliverDeps,
  type DeliverySummary,
  deliverEdition,
  enqueueEdition,
  sendTest,
} from '../jobs/deliver.ts'
import { archiveEdition, localDateOf, makeEdition, type Report } from '../jobs/edition.ts'
import { letterFor } from '../jobs/letter.ts'
import { buildMessage } from '../mail/letter.ts'
import { openTransport } from '../mail/transport.ts'
import type { Edition } from '../store/edition.ts'
import { instant } from './arguments.ts'
import { addExamples } from './command.ts'
import { openDataIfThere, pathsIn } from './installation.ts'
import { dkimOf, senderOf } from './mail.ts'
import { publishAfterwards } from './publishing.ts'
import { defineReportNew } from './report-new.ts'
import { addressesOf, findReport, reportOf } from './reports.ts'
import { openTemplatesOf } from './templates.ts'
import type { Terminal } from './terminal.ts'

interface Options {
  readonly at?: string
  readonly preview?: string
  readonly send?: boolean
  readonly to?: string
}

const PREVIEWS = ['.html', '.txt', '.eml'] as const

export function defineReport(command: Command, terminal: Terminal): void {
  command
    .argument('<name>', 'report, as named in the settings; there is always `daily`')
    .option('--at <time>', 'as if made then: the report covers the whole day before (default: now)', instant)
    .option('--preview <file>', 'write it to a file: .html, .txt or .eml')
    .option('--send', 'send it to its recipients; who has had it gets it no second time')
    .option('--to <address>', 'send a test to this address alone, outside the ledger of deliveries')
    .action((name: string, options: Options) => runReport(terminal, name, options))
  addExamples(command, [
    'report daily',
    'report daily --preview daily.html',
    'report daily --at 2026-11-20T07:00:00Z',
    'report daily --to me@example.com',
    'report daily --send',
  ])
  defineReportNew(command.command('new'), terminal)
}

async function runReport(terminal: Terminal, name: string, options: Options): Promise<void> {
  if (options.send && options.to !== undefined) {
    throw new LeadsheetError('usage_invalid', '--send and --to cannot be given together', {
      hint: '--send reaches all recipients, --to sends a test to one address.',
    })
  }
  const config = await terminal.config()
  const settings = findReport(config, name)
  const report = reportOf(settings)
  const mail = options.send || options.to !== undefined ? requireMail(config) : null
  if (options.send && settings.recipients.length === 0) {
    throw new LeadsheetError('config_missing', `The report ${name} has no recipients`, {
      hint: 'Set recipients (LEADSHEET_RECIPIENTS), or `recipients` of the report.',
    })
  }
  const preview = options.preview === undefined ? null : previewKind(options.preview)
  const now = (): Date => new Date()
  const at = options.at === undefined ? now() : new Date(options.at)
  if (at > now()) {
    throw new LeadsheetError('usage_invalid', `--at ${options.at} is still to come`, {
      hint: 'The report covers the whole day before that time, which must be over.',
    })
  }
  const templates = await openTemplatesOf(config, [report.template])
  await using store = await openDataIfThere(config)
  const edition = await makeEdition({ store, templates, now }, report, at)
  const page = await archiveEdition(pathsIn(config.dataDir).archive, edition)
  const sender = senderOf(config.mail)
  if (preview !== null && options.preview !== undefined) {
    const to = addressesOf(settings)[0] ?? sender.from
    const content =
      preview === '.eml'
        ? await buildMessage(
            letterFor(store, edition, to, contentFor({ templates }, report, edition, to), sender),
            dkimOf(config.mail),
          )
        : edition[preview === '.html' ? 'html' : 'text']
    await writePreview(options.preview, content)
  }
  const print = (deliveries: readonly DeliverySummary[] | null): Promise<void> =>
    printEdition(terminal, report, edition, page, options.preview ?? null, deliveries)
  if (mail === null) return await print(null)

  await using transport = openTransport(mail.url.reveal(), {
    log: await terminal.log(),
    dkim: dkimOf(mail),
  })
  const deps: DeliverDeps = { store, transport, log: await terminal.log(), now }
  if (options.to !== undefined) {
    const response = await sendTest(
      { ...deps, templates },
      report,
      edition,
      options.to,
      sender,
      terminal.signal,
    )
    const test = { recipient: options.to, state: 'sent' as const, response, isNew: true }
    return await print([test])
  }
  await enqueueEdition({ store, templates }, report, edition, addressesOf(settings), sender)
  const deliveries = await deliverEdition(deps, edition, terminal.signal)
  await print(deliveries)
  await publishAfterwards(terminal, store)
  if (deliveries.some((one) => one.state !== 'sent')) {
    terminal.end(deliveries.some((one) => one.state === 'sent') ? 'partly' : 'failed')
  }
}

function previewKind(file: string): (typeof PREVIEWS)[number] {
  const kind = PREVIEWS.find((extension) => extension === extname(file).toLowerCase())
  if (kind) return kind
  throw new LeadsheetError('usage_invalid', `--preview ${file} does not say what to write`, {
    hint: 'Let the file end in .html, .txt or .eml.',
  })
}

async function writePreview(file: string, content: string | Buffer): Promise<void> {
  await writeFile(file, content).catch((cause: unknown) => {
    throw new LeadsheetError('data_unwritable', `${resolve(file)} cannot be written: ${errorText(cause)}`, {
      hint: 'Choose a file in a folder that is there and writable.',
      cause,
    })
  })
}

async function printEdition(
  terminal: Terminal,
  report: Report,
  edition: Edition,
  page: string,
  preview: string | null,
  deliveries: readonly DeliverySummary[] | null,
): Promise<void> {
  if (terminal.json) {
    terminal.printJson({
      report: report.name,
      period: edition.period,
      subject: edition.subject,
      page,
      preview: preview === null ? null : resolve(preview),
      deliveries:
        deliveries?.map(({ recipient, state, response, isNew }) => ({
          recipient,
          state,
          response,
          is_new: isNew,
        })) ?? [],
    })
    return
  }
  await terminal.printFields({
    Report: `${report.name}, ${localDateOf(edition.period)} (${edition.period.timeZone})`,
    Subject: edition.subject,
    Page: page,
    Preview: preview === null ? null : resolve(preview),
  })
  if (deliveries === null) {
    terminal.note(
      'Nothing was sent. `--to you@example.com` sends a test, `--send` sends it to its recipients.',
    )
    return
  }
  terminal.print('')
  await terminal.printTable(
    [
      { title: 'RECIPIENT', value: (one) => one.recipient, isWhole: true },
      { title: 'STATE', value: (one) => (one.isNew ? one.state : `${one.state} before`) },
      { title: 'ANSWER', value: (one) => one.response },
    ],
    deliveries,
  )
}
