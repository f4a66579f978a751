/** Runs a long job in a child process, which can be killed. SQLite itself cannot be interrupted. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { flushCompileCache, getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { ErrorCode } from '../../errors.ts'
import { LeadsheetError } from '../../errors.ts'

/** A message of the child process. The last one is a result or a failure. */
type Message<Result> = { readonly told: string } | { readonly result: Result } | { readonly failure: Failure }

interface Failure extends Pick<LeadsheetError, 'message' | 'hint' | 'notBefore'> {
  /** The code of a LeadsheetError; null for a bug. */
  readonly code: ErrorCode | null
}

/** Its message begins with a verb, so that a caller can write a subject before it. */
export class OutOfMemory extends Error {}

/** The child has ended without an answer, for example because the system has killed it. */
export class NoAnswer extends LeadsheetError {
  constructor(ending: string) {
    super('job_killed', `a process of leadsheet ended with ${ending} before its work was done`, {
      hint: 'Run the command again. The system kills a process if memory is short.',
    })
  }
}

/** The child ends itself by this signal when it takes too much memory. No other code sends it. */
const MEMORY_SIGNAL = 'SIGUSR2'
/** Short, because a process can take two gigabytes a second. */
const LOOK_AT_MEMORY_MS = 10

interface ChildOptions {
  /** The working directory, and SQLite's folder for temporary files. */
  readonly folder: string
  readonly signal: AbortSignal
  /** The maximum memory of the child process in bytes; no limit if absent. */
  readonly bytesMax?: number
  /** The environment of the child process; if absent, the environment has nothing of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** True if the child process ends its work when the signal is aborted. Otherwise the process is killed. */
  readonly endsItself?: boolean
  readonly onTold?: (text: string) => void
}

/**
 * Runs a job in a child process and returns its result.
 * @param script the program of the child process, which has to call {@link answerParent}
 * @throws {@link OutOfMemory}, {@link NoAnswer}, the error of the child, the reason of an aborted signal
 */
export async function askChild<Job extends object, Result>(
  script: string,
  job: Job,
  { folder, signal, bytesMax, env = { SQLITE_TMPDIR: folder }, endsItself, onTold }: ChildOptions,
): Promise<Result> {
  signal.throwIfAborted()
  const cache = getCompileCacheDir()
  const child = fork(script, bytesMax === undefined ? [] : [String(bytesMax)], {
    cwd: folder,
    env: { ...env, ...(cache && { NODE_COMPILE_CACHE: dirname(cache) }) },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
  })
  // Ignores the error of a child process that cannot be started or has ended, because there is no answer then.
  child.on('error', () => {})
  const ended = child.pid === undefined ? null : new Promise((resolve) => child.once('exit', resolve))
  const stop = (): void => {
    if (endsItself) child.send(failureOf(signal.reason), () => {})
    else child.kill('SIGKILL')
  }
  signal.addEventListener('abort', stop)
  try {
    child.send(job)
    const answer = await readAnswer<Result>(child, onTold)
    if (answer === undefined) {
      await ended
      if (child.signalCode === MEMORY_SIGNAL)
        throw new OutOfMemory(`took more than ${(bytesMax ?? 0) / 2 ** 20} MB of memory`)
      throw new NoAnswer(String(child.signalCode ?? `status ${child.exitCode}`))
    }
    if ('result' in answer) return answer.result
    throw thrownOf(answer.failure)
  } catch (thrown) {
    signal.throwIfAborted()
    throw thrown
  } finally {
    signal.removeEventListener('abort', stop)
    child.kill('SIGKILL')
    // Waits for the end of the child process, because until then it may write a file.
    await ended
  }
}

/** Waits for the answer; undefined if the child process ends without one. */
function readAnswer<Result>(
  child: ChildProcess,
  onTold: ChildOptions['onTold'],
): Promise<Exclude<Message<Result>, { told: string }> | undefined> {
  return new Promise((resolve) => {
    child.on('message', (message: Message<Result>) => {
      if ('told' in message) onTold?.(message.told)
      else resolve(message)
    })
    // This event follows the last message.
    child.once('disconnect', () => resolve(undefined))
  })
}

export interface Parent {
  /** The signal that is aborted when the work is to end; see `endsItself` of {@link askChild}. */
  readonly signal: AbortSignal
  tell(text: string): void
}

/** Runs in the child process: receives a job from {@link askChild}, does it, sends the answer and exits. */
export function answerParent<Job extends object, Result>(
  work: (job: Job, parent: Parent) => Result | Promise<Result>,
): void {
  // Ignores these signals, because Ctrl-C and the end of a terminal reach all processes. The parent process
  // decides when this child process ends.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})
  // The parent process was killed, so nobody waits for the answer.
  process.once('disconnect', () => process.exit())
  const [, , bytesMax] = process.argv
  const stop = new AbortController()
  // Ignores that the parent process has been killed, which the event above tells too.
  const send = (message: Message<Result>) => process.send?.(message, undefined, undefined, () => {})
  const parent: Parent = { signal: stop.signal, tell: (told) => send({ told }) }
  process.once('message', async (job: Job) => {
    process.on('message', (reason: Failure) => stop.abort(thrownOf(reason)))
    if (bytesMax !== undefined) await watchMemory(Number(bytesMax))
    const answer = await answerTo(() => work(job, parent))
    // The parent process kills this process when it has the answer.
    flushCompileCache()
    send(answer)
  })
}

/** Watches the memory in another thread, because SQLite blocks the main thread. */
async function watchMemory(bytesMax: number): Promise<void> {
  const look = `if (process.memoryUsage.rss() > ${bytesMax}) process.kill(process.pid, '${MEMORY_SIGNAL}')`
  const watch = new Worker(`setInterval(() => { ${look} }, ${LOOK_AT_MEMORY_MS})`, { eval: true })
  await once(watch, 'online')
  watch.unref()
}

async function answerTo<Result>(work: () => Result | Promise<Result>): Promise<Message<Result>> {
  try {
    return { result: await work() }
  } catch (thrown) {
    return { failure: failureOf(thrown) }
  }
}

function failureOf(thrown: unknown): Failure {
  if (thrown instanceof LeadsheetError) {
    const { code, message, hint, notBefore } = thrown
    return { code, message, hint, notBefore }
  }
  const message = thrown instanceof Error ? (thrown.stack ?? '') : String(thrown)
  return { code: null, message, hint: undefined, notBefore: undefined }
}

function thrownOf({ code, message, hint, notBefore }: Failure): Error {
  if (code === null) return new Error(message)
  return new LeadsheetError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(notBefore !== undefined && { notBefore }),
  })
}

/**
 * Returns the path of a program that runs in its own process: a `.ts` file in the sources, a `.js`
 * file in a build.
 * @param besideUrl the `import.meta.url` of the caller
 * @param name relative to the caller, without the extension: `snapshot/child`
 */
export function programFile(besideUrl: string, name: string): string {
  return fileURLToPath(new URL(`${name}${extname(besideUrl)}`, besideUrl))
}
