/** `leadsheet alerts list`: what is wrong, and what operators were told of it. */

import type { Command } from 'commander'
import { openData, openDataIfThere } from '../../../app/installation.ts'
import { acknowledge } from '../../../jobs/acknowledge.ts'
import { factsOf } from '../../../jobs/notice-reasons.ts'
import { listNotices, type Notice } from '../../../store/alerts/alert.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { testChannels } from './notices-test.ts'

const LIMIT_DEFAULT = 100

interface Options {
  readonly all?: boolean
  readonly limit: number
}

export function defineNotices(command: Command, terminal: Terminal): void {
  const list = command
    .command('list', { isDefault: true })
    .description('list what is wrong; `alerts` alone does it too')
    .option('--all', 'also what is over')
    .option('--limit <number>', 'how many', wholeNumber(1, 1_000_000), LIMIT_DEFAULT)
    .action((options: Options) => showNotices(terminal, options))
  addExamples(list, ['alerts list', 'alerts list --all --json'])

  const ack = command
    .command('ack')
    .description('say that you know of one: there are no more reminders')
    .argument('<number>', 'its number', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .action((id: number) => acknowledgeOne(terminal, id))
  addExamples(ack, ['alerts ack 12'])

  const test = command
    .command('test')
    .description('send one message each way that the settings name')
    .action(() => testChannels(terminal))
  addExamples(test, ['alerts test'])
}

async function showNotices(terminal: Terminal, { all, limit }: Options): Promise<void> {
  await using store = await openDataIfThere(await terminal.config())
  const notices = await listNotices(store.db, all ? 'all' : 'open', limit)
  if (notices.some(({ state, acknowledgedAt }) => state === 'open' && acknowledgedAt === null)) {
    terminal.end('partly')
  }
  if (terminal.json) return terminal.printJson(notices.map(noticeJson))
  if (notices.length === 0) return terminal.note(all ? 'Nothing has been wrong.' : 'Nothing is wrong.')
  for (const notice of notices) printNotice(terminal, notice)
}

function printNotice(terminal: Terminal, notice: Notice): void {
  const { id, reason, subject, message, hint, openedAt, closedAt, acknowledgedAt } = notice
  const about = subject === '' ? '' : ` · ${subject}`
  const title = terminal.style(closedAt === null ? 'red' : 'green', `${factsOf(reason).title}${about}`)
  const since = formatInstant(openedAt)
  const known = acknowledgedAt === null ? '' : `, known since ${formatInstant(acknowledgedAt)}`
  const times = closedAt === null ? `since ${since}${known}` : `${since} to ${formatInstant(closedAt)}`
  terminal.print(`${String(id).padStart(4)}  ${title}, ${times}`, `      ${message.replaceAll('\n', ' ')}`)
  if (closedAt === null) terminal.print(`      ${terminal.style('dim', hint)}`)
}

export function noticeJson(notice: Notice) {
  const { id, reason, subject, state, message, hint } = notice
  return {
    ...{ id, reason, title: factsOf(reason).title, subject, state, message, hint },
    ...{ since: notice.openedAt, until: notice.closedAt },
    ...{ told_at: notice.toldAt, acknowledged_at: notice.acknowledgedAt },
  }
}

async function acknowledgeOne(terminal: Terminal, id: number): Promise<void> {
  await using store = await openData(await terminal.config())
  const notice = await acknowledge(store, id, new Date())
  if (terminal.json) terminal.printJson(noticeJson(notice))
  else terminal.print(`${factsOf(notice.reason).title}: there are no more reminders of it`)
}
