/**
 * A checksum over all leads of a copy, whatever their order. It proves that no contender writes less, or
 * other data.
 */
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'

const MODULUS = 2 ** 48

export interface Checksum {
  readonly count: number
  readonly sum: number
}

export function addToSum(sum: number, id: string, raw: string): number {
  return (sum + createHash('md5').update(id).update(raw).digest().readUIntBE(0, 6)) % MODULUS
}

/** Reads a copy of leadsheet, of a floor or of a plain script. */
export function readChecksum(file: string): Checksum {
  const database = new Database(file, { readonly: true })
  try {
    const isOurs = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'lead_raw'").get() !== undefined
    const joined = isOurs ? 'JOIN lead_raw ON lead_no = no' : ''
    const rows = database
      .prepare<[], { id: string; raw: string }>(`SELECT id, raw FROM lead ${joined}`)
      .iterate()
    let [count, sum] = [0, 0]
    for (const { id, raw } of rows) {
      sum = addToSum(sum, id, raw)
      count++
    }
    return { count, sum }
  } finally {
    database.close()
  }
}
