/**
 * Stores messages with compressed bodies, and each file once. Messages are large, so they are read singly.
 */
import { createHash } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'
import type { Message, MessageFile } from '../../domain/message.ts'
import type { Db, Trx } from '../db/store.ts'

interface FileReference extends Omit<MessageFile, 'content'> {
  readonly sha256: string
}

type PackedMessage = ReturnType<typeof packMessage>

/** Messages that are written together. They take little memory, because a shared file is held once. */
export interface MessagePack {
  readonly messages: PackedMessage[]
  /** The keys are contents. All messages with the same file share one content object. */
  readonly hashes: Map<Uint8Array, string>
}

export function createMessagePack(): MessagePack {
  return { messages: [], hashes: new Map() }
}

export function addToPack({ messages, hashes }: MessagePack, message: Message): void {
  messages.push(packMessage(message, hashes))
}

function packMessage({ html, text, files, ...head }: Message, hashes: MessagePack['hashes']) {
  const references = files.map(({ content, ...file }): FileReference => {
    const sha256 = hashes.get(content) ?? createHash('sha256').update(content).digest('hex')
    hashes.set(content, sha256)
    return { ...file, sha256 }
  })
  return {
    messageId: head.messageId,
    recipient: head.to,
    head: JSON.stringify(head),
    files: JSON.stringify(references),
    html: pack(html),
    text: pack(text),
  }
}

/** Copies the result, because it is a view of a much larger buffer. */
function pack(body: string): Uint8Array {
  return Uint8Array.from(deflateSync(body))
}

export async function insertMessage(
  trx: Trx,
  { messageId, head, files, html, text }: PackedMessage,
): Promise<void> {
  await trx.insertInto('message').values({ message_id: messageId, head, files, html, text }).execute()
}

export async function keepFiles(trx: Trx, { hashes }: Pick<MessagePack, 'hashes'>): Promise<void> {
  for (const [content, sha256] of hashes) {
    await trx
      .insertInto('message_file')
      .values({ sha256, content })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}

/** Identical byte for byte to the message that was queued. */
export async function readMessage(db: Db, messageId: string): Promise<Message> {
  const message = await findMessage(db, messageId)
  if (message === null) throw new Error(`the message ${messageId} or a file of it is not in the store`)
  return message
}

/** Returns null if the message or one of its files is missing. */
export async function findMessage(db: Db, messageId: string): Promise<Message | null> {
  const row = await db
    .selectFrom('message')
    .where('message_id', '=', messageId)
    .selectAll()
    .executeTakeFirst()
  if (row === undefined) return null
  const files: MessageFile[] = []
  for (const { sha256, ...file } of JSON.parse(row.files) as readonly FileReference[]) {
    const kept = await db
      .selectFrom('message_file')
      .where('sha256', '=', sha256)
      .select('content')
      .executeTakeFirst()
    if (kept === undefined) return null
    files.push({ ...file, content: kept.content })
  }
  const bodies = { html: inflateSync(row.html).toString(), text: inflateSync(row.text).toString() }
  return { ...JSON.parse(row.head), ...bodies, files }
}

/** Reads the messages of reports that were queued last, the newest first, one at a time because they are large. */
export async function* readLastMessages(db: Db, limit: number): AsyncGenerator<Message> {
  const rows = await db
    .selectFrom('delivery')
    .where('issue_id', 'is not', null)
    .select('message_id')
    .orderBy('queued_at', 'desc')
    .limit(limit)
    .execute()
  for (const { message_id: id } of rows) {
    const message = await findMessage(db, id)
    if (message !== null) yield message
  }
}
