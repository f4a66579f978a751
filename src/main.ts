/** The process: arguments, signals, exit status. The only place that prints errors. */
import { setFlagsFromString } from 'node:v8'
import { EXIT_STATUS, endingOf } from './cli/exit-status.ts'
import { createProgram, runProgram } from './cli/program.ts'
import { plainText } from './cli/terminal/plain-text.ts'
import type { FrameTerminal } from './cli/terminal/terminal.ts'
import { errorText, LeadsheetError } from './errors.ts'

/** Container runtimes kill what has not left ten seconds after they asked for it. */
const STOP_WITHIN_MS = 9_000
const WITHOUT_READER: readonly string[] = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']
/** npm passes Ctrl-C on although the terminal has already sent it to every process: that is no second one. */
const SAME_SIGNAL_MS = 500

// Pages come and go: room for short-lived objects that doubles with them costs 80 MB and gains no time.
setFlagsFromString('--semi-space-growth-factor=1')
// And what outlives a page is little: a heap that at most doubles before it is tidied saves 80 MB more.
setFlagsFromString('--heap-growing-percent=100')
process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const stop = new AbortController()
  const { program, terminal } = createProgram(stop.signal)
  stopOnSignals(stop, terminal)
  goOnWithoutReader()
  printBugs(terminal)
  try {
    await runProgram(program, args)
    return EXIT_STATUS[terminal.ending].status
  } catch (thrown) {
    const failure = isAbort(thrown) && terminal.signal.aborted ? terminal.signal.reason : thrown
    printError(terminal, failure)
    return EXIT_STATUS[endingOf(failure)].status
  }
}

/** The first Ctrl-C or SIGTERM has the command put down what it does, for so long; a second one ends it on the spot. */
function stopOnSignals(stop: AbortController, terminal: FrameTerminal): void {
  let stoppedAt = 0
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (!stop.signal.aborted) {
        stoppedAt = performance.now()
        stop.abort(interrupted(`stopped by ${name}`))
        setTimeout(() => leaveAsItIs(terminal, name), STOP_WITHIN_MS).unref()
      } else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) {
        process.exit(EXIT_STATUS.interrupted.status)
      }
    })
  }
}

function leaveAsItIs(terminal: FrameTerminal, signal: NodeJS.Signals): void {
  const named = terminal.held()
  const held = named.length > 0 ? named : process.getActiveResourcesInfo()
  const within = `${STOP_WITHIN_MS / 1000} s of ${signal}`
  printError(terminal, interrupted(`not everything was put down within ${within}: ${held.join(', ')}`))
  process.exit(EXIT_STATUS.interrupted.status)
}

function interrupted(message: string): LeadsheetError {
  return new LeadsheetError('run_interrupted', message, {
    hint: 'What was finished is kept; the same command goes on from there.',
  })
}

/**
 * `leadsheet sync 2>&1 | head`, or a daemon whose log nobody takes any more: what is written then is lost, and the work
 * goes on to its own end.
 */
function goOnWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // EIO: the terminal was closed. SIGHUP comes too, and a daemon still has its work to put down.
      if (!WITHOUT_READER.includes(error.code ?? '')) throw error
    })
  }
}

/** What nobody waited for: Node would print it with the secrets in it. */
function printBugs(terminal: FrameTerminal): void {
  process.on('uncaughtException', (bug) => {
    printError(terminal, bug)
    process.exit(EXIT_STATUS.failed.status)
  })
}

function printError(terminal: FrameTerminal, failure: unknown): void {
  process.stderr.write(terminal.redact(terminal.json ? errorJson(failure) : plainText(errorLines(failure))))
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
  const { code, message, hint = null, notBefore, mistakes } = thrown
  return `${JSON.stringify({ error: { code, message, hint, mistakes, not_before: notBefore } })}\n`
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}
