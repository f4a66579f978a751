/**
 * `leadsheet report test --round-trip`: sends a report as a test, and waits for it in the mailbox of bounces. Only
 * that shows that mails arrive, and what a receiver thinks of them; `report preview --to` just sends.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { openConfiguredMailbox } from '../../../app/configured-bounces.ts'
import { openMail } from '../../../app/configured-mail.ts'
import { findReport, openReportDeps, openTemplatesOf, reportOf } from '../../../app/configured-reports.ts'
import { openDataIfThere } from '../../../app/installation.ts'
import { requireMail } from '../../../config/config.ts'
import { readMailbox } from '../../../domain/mailbox.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { sendTestReport } from '../../../jobs/reports/preview.ts'
import { type Fields, first, readMail, valuesOf } from '../../../mail/bounce/mime.ts'
import { readNotifications } from '../../../mail/bounce/read-notification.ts'
import type { Mailbox } from '../../../mail/mailbox.ts'
import { idOf, parseMailbox } from '../../../mail/message.ts'
import { addExamples, showing, wholeNumber } from '../../command.ts'
import { fields } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

const WAIT_MINUTES = 2
const MINUTE_MS = 60_000

export function defineTest(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('test')
    .description('send a report as a test, and wait until it arrives in the mailbox of mail.bounces.url')
    .argument('[name]', 'name of the report (default: the first one of the settings)')
    .requiredOption('--round-trip', 'wait for the mail; report preview --to sends one without waiting')
    .option('--to <address>', 'whose mails arrive there (default: its user, mail.reply_to or mail.from)')
    .option('--wait <minutes>', 'how long to wait', wholeNumber(1, 60), WAIT_MINUTES)
    .action(showing(terminal, testRoundTrip))
  addExamples(command, ['report test --round-trip', 'report test daily --round-trip --to me@example.com'])
}

/** @throws LeadsheetError config_missing, report_unknown, report_failed, mail_unreachable, mail_rejected */
async function testRoundTrip(
  terminal: Terminal,
  name: string | undefined,
  options: { readonly to?: string; readonly wait: number },
): Promise<Result> {
  const { signal } = terminal
  const config = await terminal.config()
  const { from, replyTo, bounces } = requireMail(config)
  const settings = findReport(config, name ?? config.reports[0]?.name ?? '')
  if (bounces.url === null) {
    throw new LeadsheetError('config_missing', 'there is no mailbox in which to wait', {
      hint: `Set mail.bounces.url (LEADSHEET_MAIL_BOUNCES_URL). ${shellCommand(`report preview ${settings.name} --to ADDRESS`)} sends a test without waiting.`,
    })
  }
  const url = bounces.url.reveal()
  const user = decodeURIComponent(new URL(url).username)
  const to = options.to ?? ('fault' in readMailbox(user) ? parseMailbox(replyTo ?? from).address : user)
  const log = await terminal.log()
  await using opened = new AsyncDisposableStack()
  const open = async (placeUrl: string) => {
    const mailbox = opened.use(openConfiguredMailbox(config, placeUrl, log))
    return { mailbox, after: await mailbox.position(signal) }
  }
  const places = [await open(url)]
  const spamUrl = await places[0]?.mailbox.spamUrl(signal)
  if (spamUrl) places.push(await open(spamUrl))
  const [inbox, spam] = places.map(({ mailbox }) => mailbox.name)

  const templates = await openTemplatesOf(config, [settings.template])
  const { report, recipients } = reportOf(settings, config, templates)
  await using store = await openDataIfThere(config)
  await using transport = openMail(config, log)
  const deps = { ...(await openReportDeps(config, store, templates)), transport }
  const { messageId, response } = await sendTestReport(deps, report, recipients, to, signal)
  const waiting = { waitMs: options.wait * MINUTE_MS, signal, returnAddress: bounces.address }
  const found = await waitFor(idOf(messageId), places, waiting)
  const { spf = '', dkim = '', dmarc = '' } = found.results
  const isDoubted = found.judged_by !== null && !/^pass/.test(dmarc || dkim || spf)
  if (found.state !== 'arrived') terminal.end('failed')
  else if (isDoubted) terminal.end('partly')
  const look = `Look into the spam folder of ${to}, and see that its mails arrive in ${inbox}: --to names another address. ${shellCommand('doctor')} checks SPF, DKIM and DMARC. It may still come: --wait 10 waits longer.`
  return {
    data: { report: report.name, message_id: messageId, recipient: to, response, ...found },
    text: [
      fields({
        Report: report.name,
        Recipient: to,
        Answer: response,
        State: `${found.state} after ${found.seconds.toFixed(1)} s`,
        Mailbox: found.place !== null && found.place === spam ? `${spam}, for spam` : found.place,
        Words: found.said,
        'Judged by': found.state === 'arrived' ? (found.judged_by ?? 'nobody') : null,
        SPF: found.results.spf,
        DKIM: found.results.dkim,
        DMARC: found.results.dmarc,
      }),
    ],
    notes: [
      ...(found.state === 'not arrived' ? [look] : []),
      ...(isDoubted
        ? [
            `Receivers may take such mails for forged. ${shellCommand('doctor')} prints the records to publish.`,
          ]
        : []),
    ],
  }
}

/** A mailbox, and the position behind the messages that were looked at. */
type Place = { readonly mailbox: Mailbox; after: string }

/** The facts about the message, as `--json` prints them. */
interface Found extends ReturnType<typeof judgementOf> {
  readonly state: 'arrived' | 'bounced' | 'not arrived'
  readonly seconds: number
  /** The name of the mailbox; null if it has not arrived. */
  readonly place: string | null
  /** The words of the server that returned it; null if it was not returned. */
  readonly said: string | null
}

const POLL_MS = 1_000
const NOTHING = { state: 'not arrived', place: null, said: null, judged_by: null, results: {} } as const

/**
 * Waits until a message of ours, or the notification that it bounced, is in one of the places.
 * @param id that of the message (`idOf`)
 */
export async function waitFor(
  id: string,
  places: readonly Place[],
  options: { readonly waitMs: number; readonly signal: AbortSignal; readonly returnAddress: string | null },
): Promise<Found> {
  const { waitMs, signal, returnAddress } = options
  const began = performance.now()
  const secondsNow = () => Math.round((performance.now() - began) / 100) / 10
  for (;;) {
    for (const place of places) {
      for await (const { raw, position } of place.mailbox.read(place.after, { signal })) {
        place.after = position
        const found = await findIn(raw, id, returnAddress)
        if (found !== null) return { ...NOTHING, ...found, seconds: secondsNow(), place: place.mailbox.name }
      }
    }
    if (performance.now() - began > waitMs) return { ...NOTHING, seconds: secondsNow() }
    await sleep(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

async function findIn(raw: Uint8Array, id: string, returnAddress: string | null) {
  const { fields: header = [] } = (await readMail(raw)) ?? {}
  // Some providers give a message another Message-ID.
  const own = [first(header, 'x-leadsheet-id').trim(), idOf(first(header, 'message-id').trim())]
  if (own.includes(id)) return { state: 'arrived', ...judgementOf(header) } as const
  const read = await readNotifications(raw, { returnAddress })
  const bounce = read.find(({ kind, ids }) => kind === 'bounced' && ids.includes(id))
  return bounce === undefined ? null : ({ state: 'bounced', said: bounce.said } as const)
}

const RESULT = /(?:^|;)\s*(spf|dkim|dmarc)\s*=\s*(\w+)([^;]*)/gi
const DOMAIN = /(?:smtp\.mailfrom|header\.(?:d|i|from))\s*=\s*["<]*(?:[^\s;"]*@)?([^\s;">@]+)/i

/**
 * Reads the topmost Authentication-Results (RFC 8601) and those of the same server. Others may be of anybody.
 * @returns the name of the server that judged, which is empty if it does not say and null if no server did; and
 * results such as `{ spf: 'pass (example.com)' }`. A message may have several signatures.
 */
export function judgementOf(header: Fields) {
  const judged = valuesOf(header, /^authentication-results$/).map((text) => text.replace(/\([^()]*\)/g, ' '))
  // Microsoft 365 leaves the name of the server out.
  const nameOf = (text: string) => {
    const [name = ''] = text
      .slice(0, text.indexOf(';') + 1)
      .trim()
      .split(/[\s;]+/)
    return name.includes('=') ? '' : name
  }
  const [server = null] = judged.map(nameOf)
  const results: Record<string, string> = {}
  for (const text of judged.filter((each) => nameOf(each) === server))
    for (const [, name = '', result = '', about = ''] of text.matchAll(RESULT)) {
      const words = `${result.toLowerCase()} (${DOMAIN.exec(about)?.[1] ?? 'of no domain'})`
      results[name.toLowerCase()] = [results[name.toLowerCase()], words].filter(Boolean).join(', ')
    }
  return { judged_by: server, results }
}
