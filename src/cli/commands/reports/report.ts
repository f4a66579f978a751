/** `leadsheet report`: the parent of all commands about reports; `approve` and `new`. */

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Command } from 'commander'
import { openTemplatesOf } from '../../../app/configured-reports.ts'
import { findSchedule, scheduleFor } from '../../../app/configured-schedules.ts'
import { openData, TEMPLATES } from '../../../app/installation.ts'
import { CALLED, faultText, LeadsheetError, shellCommand } from '../../../errors.ts'
import { approveRun } from '../../../jobs/schedule/schedule-state.ts'
import { scaffoldReport } from '../../../report/definition.ts'
import { SHARED_FOLDERS } from '../../../report/render/template-files.ts'
import { makeFolder } from '../../../store/db/file-system.ts'
import { addExamples, showing } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { defineShow } from './report-issue.ts'
import { definePreview, defineSend } from './report-make.ts'
import { defineTest } from './report-test.ts'
import { defineResend } from './resend.ts'

export function defineReport(command: Command, terminal: Terminal): void {
  definePreview(command, terminal)
  defineTest(command, terminal)
  defineSend(command, terminal)
  defineApprove(command, terminal)
  defineResend(command, terminal)
  defineShow(command, terminal)
  defineNew(command, terminal)
}

function defineApprove(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('approve')
    .description('approve a report that is held or waits for its data: the daemon sends it')
    .argument('<name>', 'name of the report')
    .action(showing(terminal, approveReport))
  addExamples(command, ['report approve daily'])
}

/** @throws LeadsheetError usage_invalid if no issue of the report is held or waits for its data */
async function approveReport(terminal: Terminal, name: string): Promise<Result> {
  const config = await terminal.config()
  const schedule = findSchedule(config, name)
  await using store = await openData(config)
  const { due_at, message } = await approveRun(store, schedule.name, new Date())
  return {
    data: { schedule: schedule.name, due_at, message },
    text: [`${schedule.name} of ${formatInstant(due_at)} is approved: the daemon runs it within a minute`],
  }
}

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

function defineNew(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('new')
    .description('create a folder for a report of your own, with two example queries')
    .argument('<name>', 'name of the new report: lower-case letters, digits and hyphens')
    .option('--from <report>', 'report to copy the period and blocks from', 'daily')
    .action(showing(terminal, makeReport))
  addExamples(command, ['report new industries', 'report new weekly-emea --from weekly'])
}

async function makeReport(terminal: Terminal, name: string, { from }: { from: string }): Promise<Result> {
  if (!NAME.test(name) || SHARED_FOLDERS.includes(name)) {
    throw new LeadsheetError('usage_invalid', `${JSON.stringify(name)} cannot be the name of a report`, {
      hint: `Lower-case letters, digits and single hyphens, such as weekly-emea; not ${SHARED_FOLDERS.join(', ')}.`,
    })
  }
  const config = await terminal.config()
  const definition = (await openTemplatesOf(config, [from])).definition(from)
  const folder = join(config.templatesDir, name)
  const file = join(folder, 'report.yaml')
  refuseTaken(folder, name)
  await write(folder, file, scaffoldReport(name, definition))

  const schedule = scheduleFor(definition.period, config.weekStarts)
  const isListed = config.reports.some((report) => report.template === name)
  if (existsSync(join(TEMPLATES, name))) {
    const shadow = `It replaces the ${name} that comes with leadsheet: its recipients get this one from now on.`
    terminal.note(`warning: ${shadow} If you do not want that, remove ${relative('', folder)}.`)
    terminal.end('partly')
  }
  const toSend = [
    terminal.style('bold', `To send it, add to reports in ${settingsFile(config.file)}`),
    // In YAML a bare 2026 would be a number.
    `  - name: ${/[a-z]/.test(name) ? name : JSON.stringify(name)}`,
    `    schedule: "${schedule}"`,
  ]
  return {
    data: { report: name, file, is_listed: isListed, schedule },
    text: [
      `Made ${relative('', file)}`,
      `${terminal.style('bold', 'Edit it and preview it')}\n  ${CALLED} report preview ${name} -o ${name}.html`,
      ...(isListed ? [] : [toSend.join('\n')]),
    ],
  }
}

function refuseTaken(folder: string, name: string): void {
  if (!existsSync(folder)) return
  throw new LeadsheetError('usage_invalid', `${relative('', folder)} already exists`, {
    hint: `Choose another name, or preview the existing one with ${shellCommand(`report preview ${name}`)}.`,
  })
}

async function write(folder: string, file: string, text: string): Promise<void> {
  const hint = 'Set templates_dir (LEADSHEET_TEMPLATES_DIR) to a folder that this user may write to.'
  await makeFolder(folder, hint)
  try {
    await writeFile(file, text, { flag: 'wx' })
  } catch (cause) {
    throw new LeadsheetError('data_unwritable', `${file} cannot be written: ${faultText(cause)}`, {
      hint,
      cause,
    })
  }
}

function settingsFile(file: string | null): string {
  return file === null ? 'leadsheet.yaml' : relative('', file)
}
