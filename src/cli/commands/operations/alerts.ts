/**
 * `leadsheet alerts list|ack|test`: lists and acknowledges alerts, and sends a test alert through every
 * configured channel.
 */
import type { Command } from 'commander'
import { alertMailOf, channelsOf, placeOf } from '../../../app/alert-settings.ts'
import { dkimOf } from '../../../app/configured-mail.ts'
import { proxyOf } from '../../../app/configured-upstream.ts'
import { openData, openDataToRead } from '../../../app/installation.ts'
import { alertFacts } from '../../../checks/run-checks.ts'
import type { Config } from '../../../config/config.ts'
import { LeadsheetError } from '../../../errors.ts'
import { type AlertMessage, NOT_STORED } from '../../../jobs/alerts/alert-message.ts'
import { postAlert } from '../../../jobs/alerts/alert-webhook.ts'
import { heartbeatUrl } from '../../../jobs/alerts/heartbeat-ping.ts'
import { openPoster } from '../../../jobs/alerts/http-post.ts'
import { acknowledgeAlert, alertMailsOf } from '../../../jobs/alerts/run.ts'
import { sendTest } from '../../../jobs/outbox/send-due.ts'
import { openTransport } from '../../../mail/transport.ts'
import { type Alert, listAlerts } from '../../../store/alerts/alert.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const LIMIT_DEFAULT = 100

interface Options {
  readonly all?: boolean
  readonly limit: number
}

export function defineAlerts(command: Command, terminal: Terminal): void {
  const list = command
    .command('list', { isDefault: true })
    .description('list open alerts (same as `alerts`)')
    .option('--all', 'also list resolved alerts')
    .option('--limit <number>', 'most alerts to list', wholeNumber(1, 1_000_000), LIMIT_DEFAULT)
    .action((options: Options) => showAlerts(terminal, options))
  addExamples(list, ['alerts list', 'alerts list --all --json'])

  const ack = command
    .command('ack')
    .description('acknowledge an alert, so that no more reminders of it are sent')
    .argument(
      '<number>',
      'number of the alert, as `alerts list` shows it',
      wholeNumber(1, Number.MAX_SAFE_INTEGER),
    )
    .action((id: number) => acknowledgeOne(terminal, id))
  addExamples(ack, ['alerts ack 12'])

  const test = command
    .command('test')
    .description('send a test alert through every configured channel')
    .action(() => testChannels(terminal))
  addExamples(test, ['alerts test'])
}

async function showAlerts(terminal: Terminal, { all, limit }: Options): Promise<void> {
  await using store = await openDataToRead(await terminal.dataConfig())
  const alerts = await listAlerts(store.db, all ? 'all' : 'open', limit)
  if (alerts.some(({ state, acknowledgedAt }) => state === 'open' && acknowledgedAt === null)) {
    terminal.end('partly')
  }
  if (terminal.json) return terminal.printJson(alerts.map(alertJson))
  if (alerts.length === 0) return terminal.note(all ? 'There were no alerts.' : 'No alert is open.')
  for (const alert of alerts) printAlert(terminal, alert)
}

function printAlert(terminal: Terminal, alert: Alert): void {
  const { id, check, subject, message, hint, openedAt, resolvedAt, acknowledgedAt } = alert
  const about = subject === '' ? '' : ` · ${subject}`
  const title = terminal.style(resolvedAt === null ? 'red' : 'green', `${alertFacts(check).title}${about}`)
  const since = formatInstant(openedAt)
  const known = acknowledgedAt === null ? '' : `, acknowledged ${formatInstant(acknowledgedAt)}`
  const times = resolvedAt === null ? `since ${since}${known}` : `${since} to ${formatInstant(resolvedAt)}`
  terminal.print(`${String(id).padStart(4)}  ${title}, ${times}`, `      ${message.replaceAll('\n', ' ')}`)
  if (resolvedAt === null) terminal.print(`      ${terminal.style('dim', hint)}`)
}

export function alertJson(alert: Alert) {
  const { id, check, subject, state, message, hint } = alert
  return {
    id,
    check,
    title: alertFacts(check).title,
    subject,
    state,
    message,
    hint,
    since: alert.openedAt,
    until: alert.resolvedAt,
    announced_at: alert.announcedAt,
    acknowledged_at: alert.acknowledgedAt,
  }
}

async function acknowledgeOne(terminal: Terminal, id: number): Promise<void> {
  await using store = await openData(await terminal.config())
  const alert = await acknowledgeAlert(store, id, new Date())
  if (terminal.json) terminal.printJson(alertJson(alert))
  else terminal.print(`${alertFacts(alert.check).title}: acknowledged, no more reminders`)
}

interface Tried {
  readonly channel: 'mail' | 'webhook' | 'heartbeat'
  /**
   * The mail address; for other channels only the origin of the URL, because the rest of the URL is secret.
   */
  readonly to: string
  readonly isTaken: boolean
  readonly response: string
}

/** @throws LeadsheetError config_missing if the settings name no channel */
async function testChannels(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  const { alerts } = config
  if (alerts.recipients.length === 0 && alerts.webhook === null && alerts.heartbeat === null) {
    throw new LeadsheetError('config_missing', 'alerts: found no channel, expected at least one', {
      hint: 'Set alerts.recipients (LEADSHEET_ALERT_RECIPIENTS), alerts.webhook.url or alerts.heartbeat.url.',
    })
  }
  const tried: Tried[] = []
  for await (const one of tryAll(terminal, config)) {
    tried.push(one)
    if (terminal.json) continue
    const mark = terminal.style(one.isTaken ? 'green' : 'red', one.isTaken ? 'ok  ' : 'fail')
    terminal.print(`${mark}  ${one.channel.padEnd(9)}  ${one.to}: ${one.response}`)
  }
  if (terminal.json) {
    const data = tried.map(({ channel, to, isTaken, response }) => ({
      channel,
      to,
      taken: isTaken,
      response,
    }))
    terminal.printJson(data)
  }
  if (tried.some(({ isTaken }) => !isTaken)) terminal.end('failed')
}

async function* tryAll(terminal: Terminal, config: Config): AsyncGenerator<Tried> {
  const message = testMessage(config, new Date().toISOString())
  yield* tryMail(terminal, config, message)
  await using poster = openPoster(proxyOf(config))
  const { webhook, heartbeat } = channelsOf(config)
  const { signal } = terminal
  if (webhook !== null) {
    const outcome = await postAlert(poster, webhook, message, signal)
    yield { channel: 'webhook', to: new URL(webhook.url).origin, ...outcome }
  }
  if (heartbeat !== null) {
    // The heartbeat monitor stores what is sent to its `log` URL, but does not count it as a heartbeat.
    const url = heartbeatUrl(heartbeat.url, 'log', message.made_at)
    const outcome = await poster.post(url, 'text/plain', message.subject, signal)
    yield { channel: 'heartbeat', to: url.origin, ...outcome }
  }
}

async function* tryMail(terminal: Terminal, config: Config, message: AlertMessage): AsyncGenerator<Tried> {
  const { recipients } = config.alerts
  const mail = await alertMailOf(config)
  if (mail === null || config.smtp.url === null) {
    const response = 'smtp.url or mail.from is not set'
    for (const to of recipients) yield { channel: 'mail', to, isTaken: false, response }
    return
  }
  await using store = await openDataToRead(config)
  const log = await terminal.log()
  await using transport = openTransport(config.smtp.url.reveal(), { log, dkim: dkimOf(config.mail) })
  for (const sent of alertMailsOf(store, mail, message)) {
    const outcome = await sendTest({ transport }, sent, terminal.signal).then(
      (response) => ({ isTaken: true, response }),
      (thrown: unknown) => {
        if (!(thrown instanceof LeadsheetError)) throw thrown
        return { isTaken: false, response: thrown.message }
      },
    )
    yield { channel: 'mail', to: sent.to, ...outcome }
  }
}

function testMessage(config: Config, at: string): AlertMessage {
  const line = {
    id: NOT_STORED,
    check: 'test',
    title: 'a test',
    subject: '',
    message: 'This is a test alert. Nothing is wrong.',
    hint: 'There is nothing to do.',
    since: at,
    until: null,
  }
  return {
    subject: '1 alert: a test',
    made_at: at,
    place: placeOf(config),
    opened: [line],
    reminded: [],
    resolved: [],
    open: 0,
  }
}
