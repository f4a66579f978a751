/** The process: its arguments, signals and exit status. Only this file prints errors. */
import { setFlagsFromString } from 'node:v8'
import { EXIT_STATUS, endingOf } from './cli/exit-status.ts'
import { createProgram, runProgram } from './cli/program.ts'
import { plainText } from './cli/terminal/table.ts'
import type { FrameTerminal } from './cli/terminal/terminal.ts'
import { errorText, LeadsheetError } from './errors.ts'

/**
 * The time within which the command must stop. It is shorter than the ten seconds after which container
 * runtimes kill a process.
 */
const STOP_WITHIN_MS = 9_000
const WITHOUT_READER: readonly string[] = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']
/**
 * The time within which a second Ctrl-C counts as a repetition of the first. The terminal sends a Ctrl-C to
 * every process, and npm passes the same Ctrl-C on again.
 */
const SAME_SIGNAL_MS = 500

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const stop = new AbortController()
  const { program, terminal } = createProgram(stop.signal)
  program.hook('preAction', tuneEngine)
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

/**
 * Sets V8 for a command: it keeps the heap small and optimizes less. While the modules load, a larger heap makes
 * loading faster.
 */
function tuneEngine(): void {
  // Because undici's parser of HTTP is WebAssembly, and V8 would optimize it after ten requests. That takes a
  // tenth of a short command. With this, V8 does it after some hundred requests.
  setFlagsFromString('--wasm-tiering-budget=1000000000')
  // Without growth of V8's young generation the program uses 80 MB less memory and is as fast, because the
  // objects of a page are short-lived.
  setFlagsFromString('--semi-space-growth-factor=1')
  // The young generation of a thread would stay at its first size, which a sync fills several times a page.
  setFlagsFromString('--min-semi-space-size=4')
  // Few objects live longer than the work on one page, so a limit on the growth between collections saves up
  // to 30 MB. A limit of 100 would save 20 MB more, but a sync would spend a quarter of its time on collections.
  setFlagsFromString('--heap-growing-percent=300')
}

/**
 * Stops the command at the first Ctrl-C or SIGTERM and waits up to STOP_WITHIN_MS for it to end. A second
 * signal ends the process at once.
 */
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
 * Ignores that the output was closed, as in `leadsheet sync 2>&1 | head`. Further output is lost, but the
 * work continues.
 */
function goOnWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // EIO means that the terminal was closed. SIGHUP arrives too in that case, and a daemon still has to
      // finish its work.
      if (!WITHOUT_READER.includes(error.code ?? '')) throw error
    })
  }
}

/** Prints errors that nobody caught. Node itself would print them with the secrets that they contain. */
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

/** Formats an error as one line of JSON, so that a program can tell it from the log lines before it. */
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
