/**
 * Stores the webhook of this installation in a JSON file that only its owner can read. The file contains the
 * secret, which is in no database. A request is saved in the file before it is sent. After a kill the same
 * request can be repeated, and the upstream returns the same secret again.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { errorText, faultText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { DATA_MODE } from '../../store/db/file-system.ts'

const registrationSchema = z.strictObject({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()).readonly(),
  secret: z.string().min(1),
  /** Accepted until `oldSecretUntil`, because messages signed with it may arrive late. */
  oldSecret: z.string().min(1).nullable(),
  oldSecretUntil: z.iso.datetime().nullable(),
  registeredAt: z.iso.datetime(),
})
export type Registration = Readonly<z.output<typeof registrationSchema>>

/** An unfinished request: it is unknown whether the upstream has carried it out. */
const pendingSchema = z.strictObject({
  key: z.string(),
  at: z.iso.datetime(),
  url: z.string(),
  events: z.array(z.string()).readonly(),
})
export type PendingRequest = Readonly<z.output<typeof pendingSchema>>

const stateSchema = z.strictObject({
  registration: registrationSchema.nullable(),
  pending: pendingSchema.nullable(),
  /** The webhook that still has to be removed at the upstream; null if there is none. */
  replaced: z.string().nullable(),
})
export type RegistrationState = Readonly<z.output<typeof stateSchema>>

const NOT_THERE: readonly string[] = ['ENOENT', 'ENOTDIR']
const UNREGISTERED: RegistrationState = { registration: null, pending: null, replaced: null }

export function registrationFile(dataDir: string): string {
  return join(dataDir, 'webhook.json')
}

/**
 * Reads the registration from the file; null if nothing is registered.
 * @throws LeadsheetError webhook_unreadable
 */
export async function readRegistration(file: string): Promise<Registration | null> {
  return readState(file).registration
}

/** @throws LeadsheetError webhook_unreadable */
export function readState(file: string): RegistrationState {
  try {
    return parseState(readFileSync(file, 'utf8'))
  } catch (thrown) {
    // If a part of the path is not a folder, the file counts as missing. Another check reports that the data
    // directory is wrong.
    if (thrown instanceof Error && 'code' in thrown && NOT_THERE.includes(String(thrown.code)))
      return UNREGISTERED
    throw new LeadsheetError('webhook_unreadable', `${file} cannot be read: ${errorText(thrown)}`, {
      hint: `Look at who owns it. If it is broken, remove it and the webhook at the upstream (${shellCommand('webhooks list')}), and register anew: ${shellCommand('webhooks register --self')}.`,
    })
  }
}

/** An error quotes no part of the text, because even half a secret is a secret. */
function parseState(text: string): RegistrationState {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
  const parsed = stateSchema.safeParse(data)
  if (parsed.success) return parsed.data
  const places = parsed.error.issues.map(({ path }) => path.join('.') || 'the whole')
  throw new Error(`it is of another shape: ${[...new Set(places)].join(', ')}`)
}

/**
 * Saves the file completely or not at all, and resolves after the file was written to disk. An empty state
 * deletes the file.
 * @throws LeadsheetError data_unwritable
 */
export async function saveState(file: string, state: RegistrationState): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.part`
  try {
    await mkdir(dirname(file), { recursive: true, mode: DATA_MODE })
    if (state.registration === null && state.pending === null && state.replaced === null) {
      await rm(file, { force: true })
    } else {
      const text = `${JSON.stringify(state, null, 2)}\n`
      await writeFile(unfinished, text, { flag: 'wx', mode: 0o600, flush: true })
      await rename(unfinished, file)
    }
    const folder = await open(dirname(file), 'r')
    await folder.sync().finally(() => folder.close())
  } catch (cause) {
    await rm(unfinished, { force: true })
    throw new LeadsheetError('data_unwritable', `${file} cannot be written: ${faultText(cause)}`, {
      hint: 'Run the command as the user that the daemon runs as.',
      cause,
    })
  }
}

export function secretsIn({ registration }: RegistrationState): string[] {
  return [registration?.secret, registration?.oldSecret].filter((secret) => typeof secret === 'string')
}

/**
 * Returns a function that lists the secrets with which messages may be signed, the newest first. The function
 * reads the file again after each change, so that a running daemon knows a new secret at once.
 * @param configured the secrets from the settings
 */
export function watchSecrets(
  file: string,
  configured: readonly string[],
  { now, log }: { readonly now: () => Date; readonly log: Pick<Log, 'error'> },
): () => readonly string[] {
  const watched = watchState(file, (problem) => log.error(problem.message))
  return () => {
    const { registration } = watched()
    const isOldBelieved = (registration?.oldSecretUntil ?? '') > now().toISOString()
    const own = [registration?.secret, isOldBelieved ? registration?.oldSecret : null]
    return [...own.filter((secret) => typeof secret === 'string'), ...configured]
  }
}

/**
 * Returns a function that reads the state, and reads the file again only after it has changed.
 * @param onProblem called once for each version of the file that cannot be read; the state read last stays
 */
export function watchState(
  file: string,
  onProblem: (problem: LeadsheetError) => void,
): () => RegistrationState {
  let state = UNREGISTERED
  let seen = ''
  return () => {
    const mark = markOf(file)
    if (mark === seen) return state
    seen = mark
    try {
      state = readState(file)
    } catch (thrown) {
      if (!(thrown instanceof LeadsheetError)) throw thrown
      onProblem(thrown)
    }
    return state
  }
}

function markOf(file: string): string {
  try {
    const found = statSync(file, { throwIfNoEntry: false, bigint: true })
    return found === undefined ? '' : `${found.ino} ${found.mtimeNs} ${found.size} ${found.mode}`
  } catch (thrown) {
    return errorText(thrown)
  }
}
