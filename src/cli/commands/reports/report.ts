/** `leadsheet report`: the parent of all commands about reports. */

import { existsSync } from 'node:fs'
import { access, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Command } from 'commander'
import { openTemplatesOf } from '../../../app/configured-reports.ts'
import { scheduleFor } from '../../../app/configured-schedules.ts'
import { TEMPLATES } from '../../../app/installation.ts'
import { CALLED, faultText, LeadsheetError, shellCommand } from '../../../errors.ts'
import { scaffoldReport } from '../../../report/definition.ts'
import { SHARED_FOLDERS } from '../../../report/render/template-files.ts'
import { makeFolder } from '../../../store/db/file-system.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { defineApprove, defineHistory, defineList } from './history.ts'
import { defineShow } from './report-issue.ts'
import { definePreview, defineSend, defineTest } from './report-make.ts'
import { defineResend } from './resend.ts'

export function defineReport(command: Command, terminal: Terminal): void {
  defineList(command, terminal)
  definePreview(command, terminal)
  defineTest(command, terminal)
  defineSend(command, terminal)
  defineApprove(command, terminal)
  defineResend(command, terminal)
  defineHistory(command, terminal)
  defineShow(command, terminal)
  defineReportNew(command, terminal)
  defineWatch(command, terminal)
}

function defineWatch(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('watch')
    .description('show a report in the browser and update it when one of its files changes')
    .argument('<name>', 'name of a configured report, or of a folder of templates')
    .option('--port <number>', 'port on 127.0.0.1; 0 picks a free port', wholeNumber(0, 65_535), 8025)
    .action(async (name: string, { port }: { port: number }) => {
      // The preview server is loaded only here, because it would slow down all other commands.
      const { watchReport } = await import('./report-watch.ts')
      await watchReport(terminal, name, port)
    })
  addExamples(command, ['report watch daily'])
}

/*
 * `leadsheet report new`: makes a folder for a report of your own. The command does not change the settings,
 * but prints what to add to them.
 */

interface Options {
  readonly from: string
}

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

function defineReportNew(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('new')
    .description('create a folder for a report of your own, with two example queries')
    .argument('<name>', 'name of the new report: lower-case letters, digits and hyphens')
    .option('--from <report>', 'report to copy the period and blocks from', 'daily')
    .action((name: string, options: Options) => makeReport(terminal, name, options))
  addExamples(command, ['report new industries', 'report new weekly-emea --from weekly'])
}

async function makeReport(terminal: Terminal, name: string, { from }: Options): Promise<void> {
  if (!NAME.test(name) || SHARED_FOLDERS.includes(name)) {
    throw new LeadsheetError('usage_invalid', `${JSON.stringify(name)} cannot be the name of a report`, {
      hint: `Lower-case letters, digits and single hyphens, such as weekly-emea; not ${SHARED_FOLDERS.join(', ')}.`,
    })
  }
  const config = await terminal.config()
  const definition = (await openTemplatesOf(config, [from])).definition(from)
  const folder = join(config.templatesDir, name)
  const file = join(folder, 'report.yaml')
  await refuseTaken(folder, name)
  await write(folder, file, scaffoldReport(name, definition))

  const schedule = scheduleFor(definition.period, config.weekStarts)
  const isListed = config.reports.some((report) => report.template === name)
  if (existsSync(join(TEMPLATES, name))) {
    const shadow = `It replaces the ${name} that comes with leadsheet: its recipients get this one from now on.`
    terminal.note(`warning: ${shadow} If you do not want that, remove ${relative('', folder)}.`)
    terminal.end('partly')
  }
  if (terminal.json) {
    terminal.printJson({ report: name, file, is_listed: isListed, schedule })
    return
  }
  terminal.print(
    `Made ${relative('', file)}`,
    ...['', terminal.style('bold', 'Edit it and preview it'), `  ${CALLED} report watch ${name}`],
  )
  if (isListed) return
  terminal.print(
    ...['', terminal.style('bold', `To send it, add to reports in ${settingsFile(config.file)}`)],
    `  - name: ${name}`,
    `    schedule: "${schedule}"`,
  )
}

async function refuseTaken(folder: string, name: string): Promise<void> {
  const isTaken = await access(folder).then(
    () => true,
    () => false,
  )
  if (!isTaken) return
  throw new LeadsheetError('usage_invalid', `${relative('', folder)} already exists`, {
    hint: `Choose another name, or preview the existing one with ${shellCommand(`report watch ${name}`)}.`,
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
