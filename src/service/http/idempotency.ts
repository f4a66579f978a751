/** Makes a POST act once however often it is sent: the resource and the stored answer commit together. */
import { createHash } from 'node:crypto'
import type { ServiceDatabase } from '../store/database.ts'
import { deleteOldAnswers, findAnswer, insertAnswer, type RequestName } from '../store/idempotent-answer.ts'
import { ProblemError } from './problem.ts'

export const IDEMPOTENCY_HEADER = 'idempotency-key'
export const REPLAYED_HEADER = 'idempotency-replayed'
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

export interface OnceAnswer {
  readonly answer: unknown
  readonly isReplay: boolean
}

/** @throws ProblemError invalid_request */
export function parseIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined || (typeof header === 'string' && KEY_PATTERN.test(header))) return header
  throw new ProblemError(
    'invalid_request',
    'The header Idempotency-Key must be 1 to 255 visible ASCII characters without blanks.',
  )
}

/**
 * @param body the parsed body, if any; blanks and the order of keys make no difference
 * @param create makes the answer inside the given transaction
 * @throws ProblemError idempotency_conflict when the key was used with another body
 */
export function answerOnce(
  db: ServiceDatabase,
  name: RequestName | undefined,
  body: unknown,
  now: number,
  create: (trx: ServiceDatabase) => Promise<unknown>,
): Promise<OnceAnswer> {
  return db.transaction().execute(async (trx) => {
    await deleteOldAnswers(trx, now)
    if (name === undefined) return { answer: await create(trx), isReplay: false }
    const requestSha256 = createHash('sha256')
      .update(JSON.stringify(body ?? null))
      .digest('hex')
    const kept = await findAnswer(trx, name)
    if (kept !== undefined && kept.requestSha256 !== requestSha256) {
      throw new ProblemError(
        'idempotency_conflict',
        `The Idempotency-Key ${JSON.stringify(name.idempotencyKey)} was used for another body; take a new key.`,
      )
    }
    if (kept !== undefined) return { answer: JSON.parse(kept.answer), isReplay: true }
    const answer = await create(trx)
    await insertAnswer(trx, name, { requestSha256, answer: JSON.stringify(answer) }, now)
    return { answer, isReplay: false }
  })
}
