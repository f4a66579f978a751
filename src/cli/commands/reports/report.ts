/** `leadsheet report`: the parent of all commands about reports. */
import type { Command } from 'commander'
import { addExamples, wholeNumber } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { defineApprove, defineHistory, defineList } from './history.ts'
import { defineCompare, defineShow } from './report-issue.ts'
import { definePreview, defineSend, defineTest } from './report-make.ts'
import { defineReportNew } from './report-new.ts'
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
  defineCompare(command, terminal)
  defineReportNew(command, terminal)
  defineWatch(command, terminal)
}

function defineWatch(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('watch')
    .description('show a report in the browser, and again whenever one of its files changes')
    .argument('<name>', 'report of the settings, or a folder of templates')
    .option('--port <number>', 'port on 127.0.0.1; 0 takes a free one', wholeNumber(0, 65_535), 8025)
    .action(async (name: string, { port }: { port: number }) => {
      // The preview server is loaded only here, because it would slow down all other commands.
      const { watchReport } = await import('./report-watch.ts')
      await watchReport(terminal, name, port)
    })
  addExamples(command, ['report watch daily'])
}
