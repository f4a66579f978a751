/**
 * `leadsheet report preview NAME --watch`: shows the report in the browser, and renders it again when one of its files
 * changes.
 */
import { once } from 'node:events'
import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import {
  findReport,
  openReportDeps,
  openTemplatesOf,
  ownFolder,
  reportOf,
} from '../../../app/configured-reports.ts'
import { openDataOrEmpty, TEMPLATES } from '../../../app/installation.ts'
import type { Config } from '../../../config/config.ts'
import { loadConfig } from '../../../config/load.ts'
import { DEFAULT_LOCALE } from '../../../domain/choices.ts'
import { renderPreview } from '../../../jobs/reports/preview.ts'
import type { Recipient, Report } from '../../../jobs/reports/report-definition.ts'
import { LANGUAGES } from '../../../report/words/catalogue.ts'
import { openPreview, type Preview, type PreviewChoice } from '../../../web/preview/preview.ts'
import type { Terminal } from '../../terminal/terminal.ts'

// An editor may write a file in several steps, so rendering waits until no file has changed for this time.
const SETTLED_MS = 60

export async function watchReport(terminal: Terminal, name: string, port: number): Promise<void> {
  const first = await terminal.config()
  findReport(first, name)
  // The settings are read for every preview, because they may change too.
  const load = (): Config => loadConfig(first.file === null ? {} : { file: relative('', first.file) })
  await using server = await openPreview({
    report: name,
    port,
    locales: LANGUAGES.map((language) => [localeOf(language), nameOf(language)]),
    recipients: async () => findReport(load(), name).recipients.map(({ address }) => address),
    render: (choice) => render(terminal, load(), name, choice),
  })
  const watchers = watchFiles(first, server.refresh)
  terminal.print(`${terminal.style('bold', server.url)}  preview of ${name}`, 'Press Ctrl-C to stop.')
  if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
  for (const watcher of watchers) watcher.close()
}

async function render(
  terminal: Terminal,
  config: Config,
  name: string,
  { data, recipient, locale }: PreviewChoice,
): Promise<Preview> {
  const settings = findReport(config, name)
  const templates = await openTemplatesOf(config, [settings.template])
  const { report, recipients } = reportOf(settings, config, templates)
  await using store = await openDataOrEmpty(config)
  const deps = await openReportDeps(config, store, templates)
  const audience = audienceOf(report, recipients, recipient)
  const chosen = locale === null ? audience : { ...audience, locale }
  const content = await renderPreview(deps, report, chosen, data, terminal.signal)
  return {
    from: deps.sender.from,
    to: recipient ?? 'everybody',
    subject: content.subject,
    html: content.html,
    text: content.text,
    images: new Map(content.files.flatMap((file) => (file.cid ? [[file.cid, file.content]] : []))),
    attachments: content.files.flatMap((file) => (file.cid ? [] : [file.name])),
  }
}

function audienceOf(report: Report, recipients: readonly Recipient[], address: string | null) {
  return recipients.find((recipient) => recipient.address === address) ?? { ...report, address: null }
}

/** @returns the watchers, which the caller must close */
function watchFiles(config: Config, onChange: () => void): FSWatcher[] {
  let timer: NodeJS.Timeout | undefined
  const changed = (): void => {
    clearTimeout(timer)
    timer = setTimeout(onChange, SETTLED_MS)
  }
  const folders = [TEMPLATES, ownFolder(config)].filter((folder) => folder !== null && existsSync(folder))
  const watchers = folders.map((folder) => watch(folder ?? TEMPLATES, { recursive: true }, changed))
  const { file } = config
  if (file === null) return watchers
  // The folder is watched instead of the file, because many editors replace the file when they save it.
  const settings = watch(dirname(file), (_, changedFile) => {
    if (changedFile === basename(file)) changed()
  })
  return [...watchers, settings]
}

/** Returns the default locale if it is in this language, otherwise the bare language. */
function localeOf(language: string): string {
  return new Intl.Locale(DEFAULT_LOCALE).language === language ? DEFAULT_LOCALE : language
}

function nameOf(language: string): string {
  return new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language
}
