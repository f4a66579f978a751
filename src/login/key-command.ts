/** A program that prints the API key, such as the client of a password manager. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { LeadsheetError } from '../errors.ts'
import { learnSecret } from '../redaction.ts'
import { UNSENDABLE } from '../upstream/client/authorize.ts'
import type { KeySource } from '../upstream/client/key-source.ts'

const DEADLINE_MS = 30_000
const OUTPUT_BYTES_MAX = 64 * 1024

/**
 * Runs the program when the first key is needed, and again after a refusal.
 * @param command the program and its arguments; no shell reads them
 * @param folder the working directory, from which a relative path of the program counts
 */
export function openKeyCommand(command: readonly string[], folder: string): KeySource {
  let known: readonly string[] = []
  let printing: Promise<void> | null = null
  const [program = ''] = command
  const print = (): Promise<void> => {
    printing ??= run(command, folder)
      .then((key) => {
        known = key === known.at(-1) ? known : [...known, learnSecret(key)]
      })
      .finally(() => {
        printing = null
      })
    return printing
  }
  return {
    what: 'the key that api.key_command printed',
    hint: `Run ${program} yourself and try its key, and check how the profile sends it (auth).`,
    async current() {
      if (known.length === 0) await print()
      return known.at(-1) ?? ''
    },
    async hasOther(refused) {
      if (known.at(-1) === refused) await print()
      return known.at(-1) !== refused
    },
    known: () => known,
    about: () => `api.key_command ${program} printed a key`,
    close: async () => undefined,
  }
}

/** The output of the program is never quoted, because all of it may hold the key. */
async function run([program = '', ...args]: readonly string[], folder: string): Promise<string> {
  const running = promisify(execFile)(program, args, {
    cwd: folder,
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_BYTES_MAX,
  })
  // A program that asks for something finds the end of its input instead of waiting.
  running.child.stdin?.on('error', () => undefined).end()
  const { stdout } = await running.catch((thrown: unknown) => {
    throw failed(program, reasonOf(thrown))
  })
  const key = stdout.trim()
  if (key === '') throw failed(program, 'it printed nothing')
  if (/[\r\n]/.test(key)) throw failed(program, 'it printed several lines')
  if (UNSENDABLE.test(key)) throw failed(program, 'it printed a character that a header cannot carry')
  return key
}

function failed(program: string, reason: string): LeadsheetError {
  return new LeadsheetError('api_unauthorized', `api.key_command ${program} gave no key: ${reason}`, {
    hint: 'Run it yourself as the user of leadsheet: it must print the key alone and end with status 0. What it prints is not shown here, because it may hold the key.',
  })
}

function reasonOf(thrown: unknown): string {
  const { code, killed, signal } = thrown as { code?: unknown; killed?: unknown; signal?: unknown }
  if (code === 'ENOENT') return 'there is no such program'
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'it printed too much'
  if (killed === true) return `it did not end within ${DEADLINE_MS / 1000} s`
  return typeof signal === 'string' ? `it was ended by ${signal}` : `it ended with status ${code}`
}
