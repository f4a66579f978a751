/**
 * Stores API keys. Only a digest and the first characters are stored, so that nobody can read a key from the
 * file.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ServiceDatabase } from './database.ts'
import type { KeyScope } from './tables.ts'

export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly scope: KeyScope
  /** The first characters of the key. */
  readonly prefix: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

const KEY_PATTERN = /^lsk_[A-Za-z0-9_-]{32}$/
const PREFIX_LENGTH = 'lsk_'.length + 8

/**
 * Creates an API key.
 * @returns the key itself, which cannot be read again
 */
export async function createApiKey(
  db: ServiceDatabase,
  given: { readonly name: string; readonly scope: KeyScope },
  now: number,
): Promise<string> {
  const key = `lsk_${randomBytes(24).toString('base64url')}`
  await db
    .insertInto('api_key')
    .values({
      id: `key_${randomBytes(6).toString('hex')}`,
      name: given.name,
      scope: given.scope,
      prefix: key.slice(0, PREFIX_LENGTH),
      sha256: digest(key).toString('hex'),
      created_at: now,
      revoked_at: null,
    })
    .execute()
  return key
}

/** Finds the API key that a caller sends. Returns no key if it is unknown or revoked. */
export async function findApiKey(
  db: ServiceDatabase,
  key: string,
): Promise<{ readonly id: string; readonly scope: KeyScope } | undefined> {
  if (!KEY_PATTERN.test(key)) return undefined
  const candidates = await db
    .selectFrom('api_key')
    .select(['id', 'scope', 'sha256'])
    .where('prefix', '=', key.slice(0, PREFIX_LENGTH))
    .where('revoked_at', 'is', null)
    .execute()
  const shown = digest(key)
  return candidates.find((candidate) => timingSafeEqual(Buffer.from(candidate.sha256, 'hex'), shown))
}

export async function listApiKeys(db: ServiceDatabase): Promise<readonly ApiKey[]> {
  const rows = await db.selectFrom('api_key').selectAll().orderBy('created_at').orderBy('id').execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    scope: row.scope,
    prefix: row.prefix,
    createdAt: new Date(row.created_at),
    revokedAt: row.revoked_at === null ? null : new Date(row.revoked_at),
  }))
}

/**
 * Revokes an API key.
 * @param idOrPrefix the id or prefix from the list of keys
 * @returns how many keys were revoked: 0 if there is no such key, or if it was already revoked
 */
export async function revokeApiKey(db: ServiceDatabase, idOrPrefix: string, now: number): Promise<number> {
  const result = await db
    .updateTable('api_key')
    .set({ revoked_at: now })
    .where((eb) => eb.or([eb('id', '=', idOrPrefix), eb('prefix', '=', idOrPrefix)]))
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
