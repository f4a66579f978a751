/**
 * Several commands of the program, one after the other in this process, as its user would type them; each start of its
 * own would cost more than most of them do. `node several-commands.ts '[["sync"],["status","--json"]]'`
 */
import { createProgram, runProgram } from '../../src/cli/program.ts'
import { errorText } from '../../src/errors.ts'

const commands: string[][] = JSON.parse(process.argv[2] ?? '[]')
for (const args of commands) {
  const { program } = createProgram(new AbortController().signal)
  process.stdout.write(`\n$ ${args[0]}\n`)
  try {
    await runProgram(program, args)
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.stack : ''
    // Not by `terminal.redact`, with which the program prints it: it must hold none to begin with.
    process.stdout.write(`threw ${errorText(thrown)}\n${cause}\n`)
  }
}
