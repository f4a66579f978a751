/**
 * Runs several commands of the program one after the other in one process, because each start takes longer
 * than most commands: `node several-commands.ts 'sync' 'status --json'`.
 */
import { createProgram, runProgram } from '../../../src/cli/program.ts'

for (const line of process.argv.slice(2)) {
  const { program } = createProgram(new AbortController().signal)
  try {
    await runProgram(program, line.split(' '))
  } catch (thrown) {
    // The error is printed without `terminal.redact`, because errors must contain no secret in the first
    // place.
    process.stdout.write(`threw ${thrown instanceof Error ? thrown.stack : String(thrown)}\n`)
  }
}
