/**
 * Letters as they are sent and shown again. Bodies are packed, and a file that many letters carry is kept once; so
 * they are read one at a time, when one is wanted.
 */
import { createHash } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'
import type { Letter, LetterFile } from '../model.ts'
import type { Db, Trx } from './open.ts'

/** A file as its letter refers to it. */
interface FileReference extends Omit<LetterFile, 'content'> {
  readonly sha256: string
}

export async function insertLetter(trx: Trx, letter: Letter): Promise<void> {
  const { html, text, files, ...head } = letter
  const references: FileReference[] = []
  for (const { content, ...file } of files) {
    references.push({ ...file, sha256: await keepFile(trx, content) })
  }
  await trx
    .insertInto('letter')
    .values({
      message_id: letter.messageId,
      head: JSON.stringify(head),
      files: JSON.stringify(references),
      html: deflateSync(html),
      text: deflateSync(text),
    })
    .execute()
}

/** The letter to the byte as it was put in. */
export async function readLetter(db: Db, messageId: string): Promise<Letter> {
  const row = await db
    .selectFrom('letter')
    .where('message_id', '=', messageId)
    .selectAll()
    .executeTakeFirstOrThrow()
  const files: LetterFile[] = []
  for (const { sha256, ...file } of JSON.parse(row.files) as readonly FileReference[]) {
    const { content } = await db
      .selectFrom('letter_file')
      .where('sha256', '=', sha256)
      .select('content')
      .executeTakeFirstOrThrow()
    files.push({ ...file, content })
  }
  const bodies = { html: inflateSync(row.html).toString(), text: inflateSync(row.text).toString() }
  return { ...JSON.parse(row.head), ...bodies, files }
}

/** @returns its hash, by which it is found again */
async function keepFile(trx: Trx, content: Uint8Array): Promise<string> {
  const sha256 = createHash('sha256').update(content).digest('hex')
  await trx
    .insertInto('letter_file')
    .values({ sha256, content })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return sha256
}
