/**
 * A checksum over all leads of a copy, whatever their order. It proves that no contender writes less, or
 * other data.
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import Database from 'better-sqlite3'

const MODULUS = 2 ** 48

export interface Checksum {
  readonly count: number
  readonly sum: number
}

/** Returns the checksum of a copy. */
export function checksumOf(leads: Iterable<{ readonly id: string; readonly raw: string }>): Checksum {
  let [count, sum] = [0, 0]
  for (const { id, raw } of leads) {
    sum = (sum + createHash('md5').update(id).update(raw).digest().readUIntBE(0, 6)) % MODULUS
    count++
  }
  return { count, sum }
}

/** Reads a copy of leadsheet, of a floor or of a plain script. */
export function readChecksum(file: string): Checksum {
  const database = new Database(file, { readonly: true })
  try {
    const isOurs = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'lead_raw'").get() !== undefined
    const joined = isOurs ? 'JOIN lead_raw ON lead_no = no' : ''
    const leads = database.prepare<[], { id: string; raw: string }>(`SELECT id, raw FROM lead ${joined}`)
    return checksumOf(leads.iterate())
  } finally {
    database.close()
  }
}

/** @throws Error if a copy differs from this state of the upstream */
export async function checkCopy(
  name: string,
  found: Checksum,
  upstream: string,
  state: string,
): Promise<void> {
  const expected = await (await fetch(`${upstream}/checksum/${state}`)).json()
  if (!isDeepStrictEqual(found, expected))
    throw new Error(`${name}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`)
}
