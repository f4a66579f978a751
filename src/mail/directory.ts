/** Uses a folder as a mail server: each message becomes one `.eml` file, whole or not at all. */
import { createHash, randomUUID } from 'node:crypto'
import { access, constants, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../log.ts'
import type { Message } from '../model.ts'
import type { DkimKey } from './dkim.ts'
import type { Handover, Receipt } from './message.ts'
import { buildMessage } from './message.ts'
import { sendError } from './smtp-failure.ts'

export function openDirectory(path: string, log: Log, dkim: DkimKey | null) {
  const name = `file:${path}`
  const failed = (cause: unknown): never => {
    throw sendError(cause, 'connect', name)
  }
  const prepare = () =>
    mkdir(path, { recursive: true })
      .then(() => access(path, constants.W_OK))
      .catch(failed)
  const close = async (): Promise<void> => {}
  return {
    name,
    send: async (message: Message, { signal, onData }: Handover): Promise<Receipt> => {
      const bytes = await buildMessage(message, dkim)
      signal.throwIfAborted()
      await prepare()
      await onData?.()
      const file = join(path, fileNameOf(message))
      await writeWhole(file, bytes).catch(failed)
      log.debug({ file, bytes: bytes.length }, 'message written')
      return { response: `written to ${file}` }
    },
    verify: prepare,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * A name such as `2026-11-21-daily-dana-example.com-1f9c04a2.eml`: readable, and the same for the same
 * Message-ID.
 */
export function fileNameOf(message: Message): string {
  const slug = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9.]+/g, '-')
      .replace(/^[-.]+|[-.]+$/g, '')
      .slice(0, 60)
  const id = createHash('sha256').update(message.messageId).digest('hex').slice(0, 8)
  return `${message.date.slice(0, 10)}-${slug(message.report)}-${slug(message.to)}-${id}.eml`
}

/** Writes a file whole or, after a crash, not at all. A message written twice is one file. */
async function writeWhole(file: string, bytes: Buffer): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.part`
  try {
    await writeFile(unfinished, bytes, { flag: 'wx', flush: true })
    await rename(unfinished, file)
  } catch (thrown) {
    await rm(unfinished, { force: true })
    throw thrown
  }
}
