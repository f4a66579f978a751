/**
 * Stores messages with compressed bodies, and each file once. Messages are large, so they are read singly.
 */
import { createHash } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { deflateSync, inflateSync } from 'node:zlib'
import type { Message, MessageFile } from '../../domain/message.ts'
import { errorText, LeadsheetError } from '../../errors.ts'
import type { StorePlace } from '../db/place.ts'
import type { Db, Trx } from '../db/store.ts'

interface FileReference extends Omit<MessageFile, 'content'> {
  readonly sha256: string
}

interface PackedMessage {
  readonly messageId: string
  readonly recipient: string
  readonly head: string
  readonly files: string
  readonly html: () => Uint8Array
  readonly text: () => Uint8Array
}

/** Messages that are written together. They take little memory, because a shared file is held once. */
export interface MessagePack extends Disposable {
  readonly messages: PackedMessage[]
  /** The keys are contents. All messages with the same file share one content object. */
  readonly hashes: Map<Uint8Array, string>
  readonly bodies: Spool
}

/**
 * Large bodies go to a temporary file, for SQLite beside the store. Dispose of the pack once it is written.
 */
export function createMessagePack(place?: StorePlace): MessagePack {
  const bodies = openSpool(place?.kind === 'sqlite' ? dirname(resolve(place.file)) : tmpdir())
  return { messages: [], hashes: new Map(), bodies, [Symbol.dispose]: () => bodies[Symbol.dispose]() }
}

export function addToPack({ messages, hashes, bodies }: MessagePack, message: Message): void {
  const { html, text, files, ...head } = message
  const references = files.map(({ content, ...file }): FileReference => {
    const sha256 = hashes.get(content) ?? createHash('sha256').update(content).digest('hex')
    hashes.set(content, sha256)
    return { ...file, sha256 }
  })
  messages.push({
    messageId: message.messageId,
    recipient: message.to,
    head: JSON.stringify(head),
    files: JSON.stringify(references),
    html: bodies.put(deflateSync(html)),
    text: bodies.put(deflateSync(text)),
  })
}

export async function insertMessage(
  trx: Trx,
  { messageId, head, files, html, text }: PackedMessage,
): Promise<void> {
  const bodies = { html: html(), text: text() }
  await trx
    .insertInto('message')
    .values({ message_id: messageId, head, files, ...bodies })
    .execute()
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

/** Above this, a spool uses a file without a name, so that a killed process leaves no file. */
const MEMORY_BYTES_MAX = 8 * 2 ** 20

interface Spool extends Disposable {
  /** Stores bytes, and returns a function that reads them until the spool is disposed of. */
  put(bytes: Uint8Array): () => Uint8Array
}

/** Opens a spool for bytes to be written together. Many bytes wait in a file of `folder`. */
function openSpool(folder: string): Spool {
  let file: number | null = null
  let inMemory = 0
  let size = 0
  return {
    put(bytes) {
      const { length } = bytes
      if (inMemory + length <= MEMORY_BYTES_MAX) {
        inMemory += length
        // Copies the bytes, because the given array may be a view of a much larger buffer.
        const kept = Uint8Array.from(bytes)
        return () => kept
      }
      const at = size
      size += length
      file ??= openNameless(folder)
      const open = file
      writeWhole(open, bytes, at, folder)
      return () => {
        const kept = new Uint8Array(length)
        readSync(open, kept, 0, length, at)
        return kept
      }
    },
    [Symbol.dispose]() {
      if (file !== null) closeSync(file)
      file = null
    },
  }
}

function openNameless(folder: string): number {
  try {
    const own = mkdtempSync(join(folder, '.messages-'))
    try {
      return openSync(join(own, 'bodies'), 'wx+', 0o600)
    } finally {
      rmSync(own, { recursive: true })
    }
  } catch (cause) {
    throw unwritable(folder, cause)
  }
}

function writeWhole(file: number, bytes: Uint8Array, at: number, folder: string): void {
  try {
    if (writeSync(file, bytes, 0, bytes.length, at) < bytes.length) throw new Error('the disk is full')
  } catch (cause) {
    throw unwritable(folder, cause)
  }
}

function unwritable(folder: string, cause: unknown): LeadsheetError {
  return new LeadsheetError('data_unwritable', `${folder} cannot be written: ${errorText(cause)}`, {
    hint: 'Check that it is writable by this user and has space.',
    cause,
  })
}
