/**
 * Several commands of the program, one after the other in this process, as its user would type them; each start of its
 * own would cost more than most of them do. `node several-commands.ts 'sync' 'status --json'`
 */
import { createProgram, runProgram } from '../../../src/cli/program.ts'

for (const line of process.argv.slice(2)) {
  const { program } = createProgram(new AbortController().signal)
  try {
    await runProgram(program, line.split(' '))
  } catch (thrown) {
    // Not by `terminal.redact`, with which the program prints it: it must hold none to begin with.
    process.stdout.write(`threw ${thrown instanceof Error ? thrown.stack : String(thrown)}\n`)
  }
}
