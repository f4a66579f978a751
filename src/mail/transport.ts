/** Defines the destinations of messages: a mail server, or a folder that receives each message as a file. */

import { hash, randomUUID } from 'node:crypto'
import { access, constants, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Message } from '../domain/message.ts'
import { LeadsheetError } from '../errors.ts'
import { makeFolders } from '../folder.ts'
import type { Log } from '../log.ts'
import { openHttpTransport, VENDORS } from './http/http-transport.ts'
import { isMailApi, mailApiOf } from './mail-url.ts'
import type { DkimKey } from './message.ts'
import { buildMessage } from './message.ts'
import type { Receipt, SendOptions } from './sending.ts'
import type { SmtpOptions } from './smtp.ts'
import { openSmtp, serverOf } from './smtp.ts'
import { smtpError } from './smtp-failure.ts'

export interface Transport extends AsyncDisposable {
  /** The name of the destination without a password, such as `smtp://mail.example.com:587`. */
  readonly name: string
  /**
   * Sends one message. `failedSendOf` says what an error of this function means for the message.
   * @throws LeadsheetError mail_unreachable (no message can be sent now), mail_rejected (only this message
   *   cannot be sent)
   */
  send(message: Message, options: SendOptions): Promise<Receipt>
  /**
   * Tests the destination without sending.
   * @returns what is known now, as the rest of a sentence that begins with the name, such as `lets us in`
   * @throws LeadsheetError mail_unreachable, mail_rejected
   */
  verify(signal: AbortSignal): Promise<string>
}

/**
 * Opens the transport that a URL names.
 * @param url `smtp://user:password@host:587`, `smtps://…`, the API of a provider (`graph:`, `gmail:`, `ses://…`,
 *   `resend://…`), or `file:` with the path of a folder. TLS is required unless the server runs on this machine;
 *   `?insecure=true` allows a mail server without TLS.
 * @throws LeadsheetError config_invalid
 */
export function openTransport(url: string, options: SmtpOptions): Transport {
  const parsed = URL.parse(url)
  const vendor = VENDORS[parsed?.protocol ?? '']
  if (parsed !== null && vendor !== undefined) return openHttpTransport(parsed, vendor, options)
  if (parsed?.protocol === 'file:') return openDirectory(pathOf(url), options.log, options.dkim ?? null)
  if ((parsed?.protocol === 'smtp:' || parsed?.protocol === 'smtps:') && parsed.hostname !== '') {
    return openSmtp(parsed, options)
  }
  throw new LeadsheetError(
    'config_invalid',
    'the mail URL is none of smtp://, smtps://, graph:, gmail:, ses://, resend:// and file:',
    {
      hint: 'Write smtp://user:password@mail.example.com:587, or file:/path/to/folder.',
    },
  )
}

/** Returns the name of the server that a URL names; null for a folder, which has no rate and no outage. */
export function serverNameOf(url: string): string | null {
  const parsed = new URL(url)
  if (isMailApi(parsed)) return mailApiOf(parsed).name
  return /^smtps?:/.test(url) ? serverOf(parsed).name : null
}

/** `file:outbox` is relative to the working directory, `file:///var/outbox` is absolute. */
export function pathOf(url: string): string {
  return url.startsWith('file:/') ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length))
}

/*
 * Opens a folder that receives messages. Each message becomes one `.eml` file, which is written completely or
 * not at all. Only this user may read it, because it names recipients and has their links.
 */

function openDirectory(path: string, log: Log, dkim: DkimKey | null) {
  const name = `file:${path}`
  const failed = (cause: unknown): never => {
    throw smtpError(cause, 'connect', name)
  }
  async function prepare(): Promise<void> {
    try {
      makeFolders(path, 0o700)
      await access(path, constants.W_OK)
    } catch (cause) {
      failed(cause)
    }
  }
  return {
    name,
    send: async (message: Message, { signal, onData }: SendOptions): Promise<Receipt> => {
      const bytes = await buildMessage(message, dkim)
      signal.throwIfAborted()
      await prepare()
      await onData?.()
      const file = join(path, fileNameOf(message))
      await writeWhole(file, bytes).catch(failed)
      log.debug({ file, bytes: bytes.length }, 'message written')
      return { response: `written to ${file}` }
    },
    verify: () => prepare().then(() => 'can be written'),
    [Symbol.asyncDispose]: async () => {},
  }
}

/** Builds a name like `2026-11-21-daily-dana-example.com-1f9c04a2.eml`, the same for each Message-ID. */
export function fileNameOf(message: Message): string {
  const slug = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9.]+/g, '-')
      .replace(/^[-.]+|[-.]+$/g, '')
      .slice(0, 60)
  const id = hash('sha256', message.messageId).slice(0, 8)
  return `${message.date.slice(0, 10)}-${slug(message.report)}-${slug(message.to)}-${id}.eml`
}

/** Completely or not at all. A message that is written twice replaces its first file. */
async function writeWhole(file: string, bytes: Buffer): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.part`
  try {
    await writeFile(unfinished, bytes, { flag: 'wx', mode: 0o600, flush: true })
    await rename(unfinished, file)
  } catch (thrown) {
    await rm(unfinished, { force: true })
    throw thrown
  }
}
