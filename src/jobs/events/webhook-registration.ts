/**
 * Stores the webhook of this installation in a JSON file that only its owner can read. The file contains the
 * secret, which is in no database.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { errorText, faultText, LeadsheetError, shellCommand } from '../../errors.ts'
import { makeFolders } from '../../folder.ts'
import { DATA_MODE } from '../../store/db/file-system.ts'

const registrationSchema = z.strictObject({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()).readonly(),
  secret: z.string().min(1),
  registeredAt: z.iso.datetime(),
})
export type Registration = Readonly<z.output<typeof registrationSchema>>

const NOT_THERE: readonly string[] = ['ENOENT', 'ENOTDIR']

export function registrationFile(dataDir: string): string {
  return join(dataDir, 'webhook.json')
}

/**
 * Reads the registration from the file; null if nothing is registered.
 * @throws LeadsheetError webhook_unreadable
 */
export function readRegistration(file: string): Registration | null {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (thrown) {
    // If a part of the path is not a folder, the file counts as missing. Another check reports that the data
    // directory is wrong.
    if (thrown instanceof Error && 'code' in thrown && NOT_THERE.includes(String(thrown.code))) return null
    throw new LeadsheetError('webhook_unreadable', `${file} cannot be read: ${errorText(thrown)}`, {
      hint: `Look at who owns it. If it is broken, remove it and the webhook at the upstream (${shellCommand('webhooks list')}), and register anew: ${shellCommand('webhooks register --self')}.`,
    })
  }
}

/** An error quotes no part of the text, because even half a secret is a secret. */
function parse(text: string): Registration {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
  const parsed = registrationSchema.safeParse(data)
  if (parsed.success) return parsed.data
  const places = parsed.error.issues.map(({ path }) => path.join('.') || 'the whole')
  throw new Error(`it is of another shape: ${[...new Set(places)].join(', ')}`)
}

/**
 * Saves the file completely or not at all, and resolves after the file was written to disk; null deletes it.
 * @throws LeadsheetError data_unwritable
 */
export async function saveRegistration(file: string, registration: Registration | null): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.part`
  try {
    makeFolders(dirname(file), DATA_MODE)
    if (registration === null) {
      await rm(file, { force: true })
    } else {
      const text = `${JSON.stringify(registration, null, 2)}\n`
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

/**
 * Returns a function that lists the secrets with which messages may be signed. The file is read again only after
 * each change, so that a running daemon knows a new secret at once.
 * @param configured the secrets from the settings
 * @param onProblem called once for each version of the file that cannot be read; the secret read last stays
 */
export function watchSecrets(
  file: string,
  configured: readonly string[],
  onProblem: (problem: LeadsheetError) => void,
): () => readonly string[] {
  let own: string[] = []
  let seen = ''
  return () => {
    const mark = markOf(file)
    try {
      if (mark !== seen) own = [readRegistration(file)?.secret ?? []].flat()
    } catch (thrown) {
      if (!(thrown instanceof LeadsheetError)) throw thrown
      onProblem(thrown)
    }
    seen = mark
    return [...own, ...configured]
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
