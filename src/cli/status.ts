/** `leadsheet status`: what the copy holds, how fresh it is, what ran and what waits. */
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { editionState } from '../jobs/archive-index.ts'
import { tellDates } from '../report/period.ts'
import { countDeliveries } from '../store/delivery.ts'
import { type ListedEdition, listEditions } from '../store/edition-list.ts'
import { countHeldRows } from '../store/held-row.ts'
import { countLeads } from '../store/lead.ts'
import { listMailOutages } from '../store/mail-outage.ts'
import { listNotices } from '../store/notice.ts'
import type { Db } from '../store/open.ts'
import { listSlots } from '../store/schedule-slot.ts'
import { findLastFailure, findLastWholeRun, listRuns, type RunSummary } from '../store/sync-run.ts'
import { addExamples } from './command.ts'
import { outageJson, outageText, wordOf } from './deliveries.ts'
import { editionJson } from './editions.ts'
import { openDataIfThere, pathsIn } from './installation.ts'
import { noticeJson } from './notices.ts'
import { heldText, outcomeText, readSchedules, type ScheduleState } from './schedules.ts'
import { formatInstant } from './table.ts'
import type { Terminal } from './terminal.ts'

const RUNS = 5
const SLOTS = 5
const EDITIONS = 5
const NOTICES = 100

export function defineStatus(command: Command, terminal: Terminal): void {
  command.action(() => showStatus(terminal))
  addExamples(command, ['status', 'status --json | jq .data_as_of'])
}

async function showStatus(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  await using store = await openDataIfThere(config)
  const status = await readStatus(store.db, config)
  if (terminal.json) {
    terminal.printJson({
      ...status,
      runs: status.runs.map(runJson),
      schedules: status.schedules.map(scheduleJson),
      servers_away: status.servers_away.map(outageJson),
      editions: status.editions.map(editionJson),
    })
  } else await printStatus(terminal, status)
}

async function readStatus(db: Db, config: Config) {
  const whole = await findLastWholeRun(db)
  return {
    database: pathsIn(config.dataDir).database,
    leads: await countLeads(db),
    held_rows: await countHeldRows(db),
    data_as_of: whole?.asOf ?? null,
    last_failure: await findLastFailure(db),
    notices: (await listNotices(db, 'open', NOTICES)).map(noticeJson),
    runs: await listRuns(db, RUNS),
    schedules: await readSchedules(db, config, new Date()),
    slots: await listSlots(db, SLOTS),
    deliveries: await countDeliveries(db),
    servers_away: await listMailOutages(db),
    editions: await listEditions(db, null, EDITIONS),
  }
}

function runJson(run: RunSummary) {
  return {
    run_id: run.id,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    mode: run.mode,
    outcome: run.outcome,
    leads_as_of: run.leadsAsOf,
    leads: {
      seen: run.seen,
      inserted: run.inserted,
      updated: run.updated,
      removed: run.removed,
      held: run.held,
    },
    requests: run.requests,
    retries: run.retries,
    duration_ms: run.durationMs,
    problems: run.problems,
  }
}

type Status = Awaited<ReturnType<typeof readStatus>>

function scheduleJson({ name, timing, last, next }: ScheduleState) {
  return {
    schedule: name,
    when: timing.expression,
    time_zone: timing.timeZone,
    last: last && { slot: last.slot, state: last.state, message: last.message },
    next: next?.toISOString() ?? null,
  }
}

/** `2 open: sync failing, disk nearly full`; null where nothing is wrong. */
function troublesText(notices: Status['notices']): string | null {
  if (notices.length === 0) return null
  const titles = [...new Set(notices.map(({ title }) => title))]
  return `${notices.length} open: ${titles.join(', ')} (\`leadsheet notices\`)`
}

async function printStatus(terminal: Terminal, status: Status): Promise<void> {
  const letters = Object.entries(status.deliveries).map(([state, count]) => `${count} ${wordOf(state)}`)
  const failure = status.last_failure
  await terminal.printFields({
    Database: status.database,
    Leads: status.leads.toLocaleString('en'),
    'Data as of': formatInstant(status.data_as_of) ?? 'no sync has read all leads yet',
    'Last failure': failure && `${formatInstant(failure.at)}  ${failure.message}`,
    Troubles: troublesText(status.notices),
    'Held rows': status.held_rows > 0 ? status.held_rows : null,
    'Reports waiting': status.schedules.flatMap(heldText).join(' ') || null,
    Letters: letters.join(', ') || 'none',
    'Mail server': status.servers_away.map(outageText).join('; ') || null,
  })
  if (status.runs.length > 0) {
    terminal.print('')
    await terminal.printTable<RunSummary>(
      [
        { title: 'SYNC', value: (run) => run.id, isWhole: true },
        { title: 'MODE', value: (run) => run.mode },
        { title: 'OUTCOME', value: (run) => run.outcome ?? 'running' },
        { title: 'LEADS', value: (run) => run.seen },
        { title: 'NEW', value: (run) => run.inserted },
        { title: 'CHANGED', value: (run) => run.updated },
        { title: 'GONE', value: (run) => run.removed },
        { title: 'REQUESTS', value: (run) => run.requests },
        { title: 'SECONDS', value: (run) => (run.durationMs === null ? null : run.durationMs / 1000) },
      ],
      status.runs,
    )
  }
  if (status.slots.length > 0) {
    terminal.print('')
    await terminal.printTable(
      [
        { title: 'DUE', value: (slot) => formatInstant(slot.slot) },
        { title: 'SCHEDULE', value: (slot) => slot.schedule },
        { title: 'STATE', value: (slot) => slot.state },
        { title: 'MESSAGE', value: (slot) => slot.message },
      ],
      status.slots,
    )
  }
  if (status.editions.length > 0) {
    terminal.print('')
    await terminal.printTable<ListedEdition>(
      [
        { title: 'REPORT', value: ({ report }) => report, isWhole: true },
        { title: 'PERIOD', value: ({ period }) => tellDates(period), isWhole: true },
        { title: 'MAILS', value: editionState, isWhole: true },
        { title: 'SUBJECT', value: ({ subject }) => subject },
      ],
      status.editions,
    )
  }
  terminal.print('')
  await terminal.printTable<ScheduleState>(
    [
      { title: 'SCHEDULE', value: ({ name }) => name, isWhole: true },
      { title: 'LAST', value: ({ last }) => last && formatInstant(last.slot) },
      { title: 'OUTCOME', value: ({ last }) => last && outcomeText(last) },
      { title: 'NEXT', value: ({ next }) => next && formatInstant(next.toISOString()) },
      { title: 'WHEN', value: ({ timing }) => timing.expression },
      { title: 'ZONE', value: ({ timing }) => timing.timeZone },
    ],
    status.schedules,
  )
}
