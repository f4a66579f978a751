/** The process: arguments, signals, exit status. The only place that prints errors. */
import { setFlagsFromString } from 'node:v8'
import { EXIT_STATUS, endingOf } from './cli/exit-status.ts'
import { plainText } from './cli/plain-text.ts'
import { createProgram, runProgram } from './cli/program.ts'
import { errorText, LeadsheetError } from './errors.ts'

/** npm passes Ctrl-C on although the terminal has already sent it to every process: that is no second one. */
const SAME_SIGNAL_MS = 500

// Pages come and go: room for short-lived objects that doubles with them costs 80 MB and gains no time.
setFlagsFromString('--semi-space-growth-factor=1')
// And what outlives a page is little: a heap that at most doubles before it is tidied saves 80 MB more.
setFlagsFromString('--heap-growing-percent=100')
process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const { program, terminal } = createProgram(stopSignal())
  leaveQuietlyWithoutReader()
  try {
    await runProgram(program, args)
    return EXIT_STATUS[terminal.ending].status
  } catch (thrown) {
    const failure = isAbort(thrown) && terminal.signal.aborted ? terminal.signal.reason : thrown
    process.stderr.write(terminal.redact(terminal.json ? errorJson(failure) : plainText(errorLines(failure))))
    return EXIT_STATUS[endingOf(failure)].status
  }
}

/** Aborted by the first Ctrl-C or SIGTERM; a second one ends the process on the spot. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  let stoppedAt = 0
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) {
        stoppedAt = performance.now()
        controller.abort(
          new LeadsheetError('run_interrupted', `stopped by ${name}`, {
            hint: 'What was finished is kept; the same command goes on from there.',
          }),
        )
      } else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) {
        process.exit(EXIT_STATUS.interrupted.status)
      }
    })
  }
  return controller.signal
}

/** `leadsheet leads list | head`: a reader that has seen enough is no error. */
function leaveQuietlyWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(EXIT_STATUS.done.status)
    })
  }
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError'
}

function errorLines(thrown: unknown): string {
  if (thrown instanceof LeadsheetError) {
    return `error: ${thrown.message}\n${thrown.hint === undefined ? '' : `hint: ${thrown.hint}\n`}`
  }
  return `error: this is a bug in leadsheet: ${stackOf(thrown)}\n`
}

/** One line, so that it can be told from log lines before it. */
function errorJson(thrown: unknown): string {
  if (!(thrown instanceof LeadsheetError)) {
    const bug = { code: 'bug', message: errorText(thrown), hint: null, stack: stackOf(thrown) }
    return `${JSON.stringify({ error: bug })}\n`
  }
  const { code, message, hint = null, notBefore } = thrown
  return `${JSON.stringify({ error: { code, message, hint, not_before: notBefore } })}\n`
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}
