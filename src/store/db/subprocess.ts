/** A job done by a process of its own, which may take its time and can be killed: SQLite cannot be interrupted. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { ErrorCode } from '../../errors.ts'
import { LeadsheetError } from '../../errors.ts'

/** What the process sends back: what it was asked for, or why not. */
type Answer<Result> = { readonly result: Result } | { readonly failure: Failure }

interface Failure {
  readonly message: string
  /** With the code of a LeadsheetError; null for a mistake of ours. */
  readonly code: ErrorCode | null
  readonly hint: string | undefined
}

/** That an answer was given up since it takes more memory than it may; says it with a verb, as of a query. */
export class OutOfMemory extends Error {}

/** No other one sends it. */
const TOLD_OF_MEMORY = 'SIGUSR2'
/** Memory fills by a gigabyte or two in a second. */
const LOOK_AT_MEMORY_MS = 10

/**
 * @param script calls {@link answerParent}
 * @param options.folder where it runs, and where SQLite puts what it sorts
 * @param options.bytesMax of memory that it may take, if not as much as there is
 * @throws what the child threw, {@link OutOfMemory}, and the reason of the signal
 */
export async function askChild<Job extends object, Result>(
  script: string,
  job: Job,
  options: { readonly folder: string; readonly signal: AbortSignal; readonly bytesMax?: number },
): Promise<Result> {
  const { folder, signal, bytesMax } = options
  signal.throwIfAborted()
  const child = fork(script, bytesMax === undefined ? [] : [String(bytesMax)], {
    cwd: folder,
    env: { SQLITE_TMPDIR: folder },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    signal,
    killSignal: 'SIGKILL',
  })
  // Told to stop after it has answered and before it is gone, it would tell nobody, and end us.
  child.on('error', () => {})
  try {
    // Disconnected comes after the last message, and alone where the process came to grief.
    const answered = Promise.race([once(child, 'message'), once(child, 'disconnect')])
    child.send(job)
    const answer: Answer<Result> | undefined = (await answered)[0]
    if (answer === undefined) {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      if (child.signalCode === TOLD_OF_MEMORY)
        throw new OutOfMemory(`took more than ${(bytesMax ?? 0) / 2 ** 20} MB of memory`)
      throw new Error(`${script} ended without an answer`)
    }
    if ('result' in answer) return answer.result
    const { code, message, hint } = answer.failure
    throw code === null ? new Error(message) : new LeadsheetError(code, message, hint ? { hint } : {})
  } catch (thrown) {
    signal.throwIfAborted()
    throw thrown
  } finally {
    child.kill('SIGKILL')
  }
}

/** The other end of {@link askChild}: does the job that comes and leaves. */
export function answerParent<Job extends object, Result>(work: (job: Job) => Result | Promise<Result>): void {
  // Ctrl-C, or the end of a terminal, reaches all its processes: what becomes of this one is its parent's to say.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})
  const [, , bytesMax] = process.argv
  process.once('message', async (job: Job) => {
    if (bytesMax !== undefined) await watchMemory(Number(bytesMax))
    process.send?.(await answerTo(work, job), () => process.disconnect())
  })
}

/** In a thread of its own: SQLite lets nothing else run in this one. */
async function watchMemory(bytesMax: number): Promise<void> {
  const look = `if (process.memoryUsage.rss() > ${bytesMax}) process.kill(process.pid, '${TOLD_OF_MEMORY}')`
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

/* Files of ours that run by themselves, in a process or a thread: `.ts` as they are written, `.js` as they are built. */

/**
 * @param besideUrl the `import.meta.url` of who starts it
 * @param name from there, without what comes after the dot: `snapshot/child`
 */
export function programFile(besideUrl: string, name: string): string {
  return fileURLToPath(new URL(`${name}${extname(besideUrl)}`, besideUrl))
}
