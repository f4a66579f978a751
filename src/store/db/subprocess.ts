/** Runs a long job in a child process, which can be killed. SQLite itself cannot be interrupted. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { ErrorCode } from '../../errors.ts'
import { LeadsheetError } from '../../errors.ts'

/** The answer of the child process: a result or a failure. */
type Answer<Result> = { readonly result: Result } | { readonly failure: Failure }

interface Failure {
  readonly message: string
  /** The code of a LeadsheetError; null for a bug. */
  readonly code: ErrorCode | null
  readonly hint: string | undefined
}

/**
 * Thrown where the child process takes too much memory. The message begins with a verb, so that a caller can
 * write a subject before it.
 */
export class OutOfMemory extends Error {}

/**
 * Thrown where the child process has ended without an answer, for example because the system has killed it.
 */
export class NoAnswer extends LeadsheetError {
  constructor(ending: string) {
    super('job_killed', `a process of leadsheet ended with ${ending} before its work was done`, {
      hint: 'Run the command again. The system kills a process if memory is short.',
    })
  }
}

/**
 * The signal by which the child process ends itself when it takes too much memory. No other code sends this
 * signal.
 */
const MEMORY_SIGNAL = 'SIGUSR2'
/**
 * The time between two checks of the memory. It is short, because a process can take two gigabytes a second.
 */
const LOOK_AT_MEMORY_MS = 10

/**
 * Runs a job in a child process and returns its result.
 * @param script the program of the child process, which has to call {@link answerParent}
 * @param options.folder the working directory, and SQLite's folder for temporary files
 * @param options.bytesMax the maximum memory of the child process in bytes; no limit if absent
 * @throws {@link OutOfMemory}, {@link NoAnswer}, the error of the child, the reason of an aborted signal
 */
export async function askChild<Job extends object, Result>(
  script: string,
  job: Job,
  options: { readonly folder: string; readonly signal: AbortSignal; readonly bytesMax?: number },
): Promise<Result> {
  const { folder, signal, bytesMax } = options
  signal.throwIfAborted()
  const cache = getCompileCacheDir()
  const child = fork(script, bytesMax === undefined ? [] : [String(bytesMax)], {
    cwd: folder,
    env: { SQLITE_TMPDIR: folder, ...(cache && { NODE_COMPILE_CACHE: dirname(cache) }) },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    signal,
    killSignal: 'SIGKILL',
  })
  // Ignores the error of an abort that comes between the answer and the exit of the child process. Without
  // this listener, the error would end this process.
  child.on('error', () => {})
  const ended = child.pid === undefined ? null : new Promise((resolve) => child.once('exit', resolve))
  try {
    // The event `disconnect` follows the last message. If the child process crashes, there is no message.
    const answered = Promise.race([once(child, 'message'), once(child, 'disconnect')])
    child.send(job)
    const answer: Answer<Result> | undefined = (await answered)[0]
    if (answer === undefined) {
      await ended
      if (child.signalCode === MEMORY_SIGNAL)
        throw new OutOfMemory(`took more than ${(bytesMax ?? 0) / 2 ** 20} MB of memory`)
      throw new NoAnswer(String(child.signalCode ?? `status ${child.exitCode}`))
    }
    if ('result' in answer) return answer.result
    const { code, message, hint } = answer.failure
    throw code === null ? new Error(message) : new LeadsheetError(code, message, hint ? { hint } : {})
  } catch (thrown) {
    signal.throwIfAborted()
    throw thrown
  } finally {
    child.kill('SIGKILL')
    // Waits for the end of the child process, because until then it may write a file.
    await ended
  }
}

/** Runs in the child process: receives a job from {@link askChild}, does it, sends the answer and exits. */
export function answerParent<Job extends object, Result>(work: (job: Job) => Result | Promise<Result>): void {
  // Ignores these signals, because Ctrl-C and the end of a terminal reach all processes. The parent process
  // decides when this child process ends.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})
  const [, , bytesMax] = process.argv
  process.once('message', async (job: Job) => {
    if (bytesMax !== undefined) await watchMemory(Number(bytesMax))
    process.send?.(await answerTo(work, job), () => process.disconnect())
  })
}

/** Watches the memory in another thread, because SQLite blocks the main thread. */
async function watchMemory(bytesMax: number): Promise<void> {
  const look = `if (process.memoryUsage.rss() > ${bytesMax}) process.kill(process.pid, '${MEMORY_SIGNAL}')`
  const watch = new Worker(`setInterval(() => { ${look} }, ${LOOK_AT_MEMORY_MS})`, { eval: true })
  await once(watch, 'online')
  watch.unref()
}

async function answerTo<Job, Result>(
  work: (job: Job) => Result | Promise<Result>,
  job: Job,
): Promise<Answer<Result>> {
  try {
    return { result: await work(job) }
  } catch (thrown) {
    const isOurs = thrown instanceof LeadsheetError
    const message =
      thrown instanceof Error ? (isOurs ? thrown.message : (thrown.stack ?? '')) : String(thrown)
    return {
      failure: { message, code: isOurs ? thrown.code : null, hint: isOurs ? thrown.hint : undefined },
    }
  }
}

/**
 * Returns the path of a program that runs in its own process or thread: a `.ts` file in the sources, a `.js`
 * file in a build.
 * @param besideUrl the `import.meta.url` of the caller
 * @param name relative to the caller, without the extension: `snapshot/child`
 */
export function programFile(besideUrl: string, name: string): string {
  return fileURLToPath(new URL(`${name}${extname(besideUrl)}`, besideUrl))
}
