/**
 * Stores answers for a day by the caller's Idempotency-Key, so that a request that is sent twice acts only
 * once.
 */
import type { ServiceDatabase } from './database.ts'

const KEPT_MS = 24 * 60 * 60_000

export interface RequestName {
  readonly keyId: string
  readonly path: string
  readonly idempotencyKey: string
}

interface KeptAnswer {
  /** A digest of the request's body. */
  readonly requestSha256: string
  readonly answer: string
}

/**
 * Deletes answers older than a day. This is the first statement of its transaction and makes it a writing
 * transaction from the start.
 */
export async function deleteOldAnswers(db: ServiceDatabase, now: number): Promise<void> {
  await db
    .deleteFrom('idempotent_answer')
    .where('created_at', '<=', now - KEPT_MS)
    .execute()
}

export function findAnswer(db: ServiceDatabase, name: RequestName): Promise<KeptAnswer | undefined> {
  return db
    .selectFrom('idempotent_answer')
    .select(['request_sha256 as requestSha256', 'answer'])
    .where('key_id', '=', name.keyId)
    .where('path', '=', name.path)
    .where('idempotency_key', '=', name.idempotencyKey)
    .executeTakeFirst()
}

export async function insertAnswer(
  db: ServiceDatabase,
  name: RequestName,
  kept: KeptAnswer,
  now: number,
): Promise<void> {
  await db
    .insertInto('idempotent_answer')
    .values({
      key_id: name.keyId,
      path: name.path,
      idempotency_key: name.idempotencyKey,
      request_sha256: kept.requestSha256,
      answer: kept.answer,
      created_at: now,
    })
    .execute()
}
