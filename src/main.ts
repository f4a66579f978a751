/**
 * Runs the process: reads its arguments, handles signals and sets the exit status. Only this file prints
 * errors.
 */
import { setFlagsFromString } from 'node:v8'
import { EXIT_STATUS, endingOf } from './cli/exit-status.ts'
import { createProgram, runProgram } from './cli/program.ts'
import { plainText } from './cli/terminal/table.ts'
import type { FrameTerminal } from './cli/terminal/terminal.ts'
import { errorText, LeadsheetError } from './errors.ts'
import { printableJson } from './printable.ts'

/** Container runtimes kill a process ten seconds after a signal. */
const STOP_WITHIN_MS = 9_000
const WITHOUT_READER: readonly string[] = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']
/** Under npm one Ctrl-C arrives twice, because the terminal sends it to all and npm passes it on. */
const SAME_SIGNAL_MS = 500

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  tuneEngine()
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

/** Before the modules are loaded, because the memory that loading takes stays with a daemon. */
function tuneEngine(): void {
  // Delays the optimization of undici's HTTP parser (WebAssembly). It would start after ten requests and take
  // a tenth of the time of a short command; now it starts after some hundred requests.
  setFlagsFromString('--wasm-tiering-budget=1000000000')
  // Keeps V8's young generation (the memory for new objects) from growing. This saves 80 MB and costs no
  // time, because the objects of a page of leads live only for a short time.
  setFlagsFromString('--semi-space-growth-factor=1')
  // Limits the growth of the heap between garbage collections to 100 %. Against 300 %, this saves 60 MB in a sync
  // of 50,000 leads, which takes up to a tenth longer, and 130 MB in one of a million. A limit of 40 % would
  // double the time of a sync that finds no change.
  setFlagsFromString('--heap-growing-percent=100')
}

/** The first signal stops the command within STOP_WITHIN_MS; a second one ends the process at once. */
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
  const held = process.getActiveResourcesInfo()
  const within = `${STOP_WITHIN_MS / 1000} s of ${signal}`
  printError(terminal, interrupted(`not everything was put down within ${within}: ${held.join(', ')}`))
  process.exit(EXIT_STATUS.interrupted.status)
}

function interrupted(message: string): LeadsheetError {
  return new LeadsheetError('run_interrupted', message, {
    hint: 'What was finished is kept; the same command goes on from there.',
  })
}

/** As in `leadsheet sync 2>&1 | head`: further output is lost, but the work continues. */
function goOnWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // EIO means that the terminal was closed. It is ignored here, because SIGHUP arrives as well and stops the
      // process in the normal way. So a daemon can finish its work.
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
  process.stderr.write(
    terminal.redact(
      terminal.json ? printableJson(errorJson(terminal, failure)) : plainText(errorLines(terminal, failure)),
    ),
  )
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError'
}

function errorLines({ hintOf }: FrameTerminal, thrown: unknown): string {
  if (thrown instanceof LeadsheetError) {
    return `error: ${thrown.message}\n${thrown.hint === undefined ? '' : `hint: ${hintOf(thrown)}\n`}`
  }
  return `error: this is a bug in leadsheet: ${stackOf(thrown)}\n`
}

/** One line of JSON, so that a program can tell the error from the log lines before it. */
function errorJson({ hintOf }: FrameTerminal, thrown: unknown): string {
  if (!(thrown instanceof LeadsheetError)) {
    const bug = { code: 'bug', message: errorText(thrown), hint: null, stack: stackOf(thrown) }
    return `${JSON.stringify({ error: bug })}\n`
  }
  const { code, message, notBefore, mistakes } = thrown
  const hint = hintOf(thrown) ?? null
  return `${JSON.stringify({ error: { code, message, hint, mistakes, not_before: notBefore } })}\n`
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}
