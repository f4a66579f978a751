/** `leadsheet alerts list|ack`: lists and acknowledges alerts. */
import type { Command } from 'commander'
import { openData, openDataToRead } from '../../../app/installation.ts'
import { isDaemonAlive } from '../../../checks/check.ts'
import { alertFacts } from '../../../checks/run-checks.ts'
import { shellCommand } from '../../../errors.ts'
import { acknowledgeAlert } from '../../../jobs/alerts/run.ts'
import { type Alert, listAlerts } from '../../../store/alerts/alert.ts'
import { addExamples, showing, wholeNumber } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

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
    .action(showing(terminal, findAlerts))
  addExamples(list, ['alerts list', 'alerts list --all --json'])

  const ack = command
    .command('ack')
    .description('acknowledge an alert, so that no more reminders of it are sent')
    .argument(
      '<number>',
      'number of the alert, as `alerts list` shows it',
      wholeNumber(1, Number.MAX_SAFE_INTEGER),
    )
    .action(showing(terminal, acknowledge))
  addExamples(ack, ['alerts ack 12'])
}

async function findAlerts(terminal: Terminal, { all, limit }: Options): Promise<Result> {
  await using store = await openDataToRead(await terminal.dataConfig())
  const alerts = await listAlerts(store.db, all ? 'all' : 'open', limit)
  if (alerts.some(({ state, acknowledgedAt }) => state === 'open' && acknowledgedAt === null)) {
    terminal.end('partly')
  }
  const none = all ? 'There were no alerts.' : 'No alert is open.'
  const notes = (await isDaemonAlive(store.db, new Date()))
    ? []
    : [`No daemon is running, so no alert is opened or closed. ${shellCommand('doctor')} looks now.`]
  return {
    data: alerts.map(alertJson),
    text: alerts.map((alert) => alertText(terminal, alert)),
    notes: alerts.length === 0 ? [none, ...notes] : notes,
  }
}

function alertText({ style }: Terminal, alert: Alert): string {
  const { id, checkId: check, subject, message, hint, openedAt, resolvedAt, acknowledgedAt } = alert
  const about = subject === '' ? '' : ` · ${subject}`
  const title = style(resolvedAt === null ? 'red' : 'green', `${alertFacts(check).title}${about}`)
  const since = formatInstant(openedAt)
  const known = acknowledgedAt === null ? '' : `, acknowledged ${formatInstant(acknowledgedAt)}`
  const times = resolvedAt === null ? `since ${since}${known}` : `${since} to ${formatInstant(resolvedAt)}`
  const lines = [`${String(id).padStart(4)}  ${title}, ${times}`, `      ${message.replaceAll('\n', ' ')}`]
  return [...lines, ...(resolvedAt === null ? [`      ${style('dim', hint)}`] : [])].join('\n')
}

export function alertJson(alert: Alert) {
  const { id, checkId: check, subject, state, message, hint } = alert
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

async function acknowledge(terminal: Terminal, id: number): Promise<Result> {
  await using store = await openData(await terminal.config())
  const alert = await acknowledgeAlert(store, id, new Date())
  return {
    data: alertJson(alert),
    text: [`${alertFacts(alert.checkId).title}: acknowledged, no more reminders`],
  }
}
