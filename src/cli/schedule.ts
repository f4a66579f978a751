/** `leadsheet schedule`: what runs when, and what became of it last; how it is explained, and how it is let go. */

import type { Command } from 'commander'
import { release } from '../jobs/schedule/approve-run.ts'
import { outcomeText, readScheduleStates, type ScheduleState } from '../jobs/schedule/schedule-state.ts'
import { addExamples } from './command.ts'
import { openData, openDataIfThere } from './installation.ts'
import { localTime } from './local-time.ts'
import { defineExplainSchedule } from './schedule-explain.ts'
import { scheduleWarnings } from './schedule-warnings.ts'
import { type ConfiguredSchedule, findSchedule, heldText, policyText, schedulesOf } from './schedules.ts'
import { formatInstant } from './table.ts'
import type { Terminal } from './terminal.ts'

export function defineSchedule(command: Command, terminal: Terminal): void {
  const list = command
    .command('list', { isDefault: true })
    .description('show what runs when; `schedule` alone does it too')
    .action(() => listSchedules(terminal))
  addExamples(list, ['schedule', 'schedule --json'])
  defineExplainSchedule(command.command('explain'), terminal)

  const release = command
    .command('release')
    .description('let a report go that is held, or waits')
    .argument('<name>', 'of the report')
    .action((name: string) => releaseReport(terminal, name))
  addExamples(release, ['schedule release daily'])
}

async function listSchedules(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  const now = new Date()
  await using store = await openDataIfThere(config)
  const lines = await readScheduleStates(store.db, schedulesOf(config), now)
  const warnings = scheduleWarnings(config, now)
  if (terminal.json) return terminal.printJson({ data: lines.map(jsonOf), warnings })
  await terminal.printTable<ScheduleState<ConfiguredSchedule>>(
    [
      { title: 'SCHEDULE', value: ({ name }) => name, isWhole: true },
      { title: 'WHEN', value: ({ timing }) => timing.expression, isWhole: true },
      { title: 'ZONE', value: ({ timing }) => timing.timeZone },
      { title: 'LAST', value: ({ last }) => last && formatInstant(last.slot), isWhole: true },
      { title: 'OUTCOME', value: ({ last }) => last && outcomeText(last) },
      { title: 'NEXT', value: ({ next, timing }) => next && localTime(next, timing.timeZone), isWhole: true },
      { title: 'IN UTC', value: ({ next }) => next && formatInstant(next.toISOString()), isWhole: true },
      { title: 'IF MISSED', value: ({ catchUp }) => policyText(catchUp), isOptional: true },
    ],
    lines,
  )
  for (const held of lines.flatMap(heldText)) terminal.note(held)
  for (const warning of warnings) terminal.note(`warning: ${warning}`)
}

function jsonOf({ name, timing, catchUp, last, next }: ScheduleState<ConfiguredSchedule>) {
  return {
    schedule: name,
    when: timing.expression,
    time_zone: timing.timeZone,
    catch_up: catchUp.policy,
    last: last && {
      ...{ slot: last.slot, state: last.state, message: last.message, attempts: last.attempts },
      ...{ started_at: last.started_at, finished_at: last.finished_at, not_before: last.not_before },
    },
    next: next?.toISOString() ?? null,
    next_local: next && localTime(next, timing.timeZone),
  }
}

/** @throws LeadsheetError usage_invalid where nothing of it is held or waits */
async function releaseReport(terminal: Terminal, name: string): Promise<void> {
  const config = await terminal.config()
  const schedule = findSchedule(config, name)
  await using store = await openData(config)
  const { slot, message } = await release(store, schedule.name, new Date())
  if (terminal.json) return terminal.printJson({ schedule: schedule.name, slot, message })
  terminal.print(`${schedule.name} of ${formatInstant(slot)} is let go: the daemon runs it within a minute`)
}
