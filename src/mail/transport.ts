/** The destination of messages: a mail server, or a folder that receives them as files. */
import { fileURLToPath } from 'node:url'
import { LeadsheetError } from '../errors.ts'
import type { Message } from '../model.ts'
import { openDirectory } from './directory.ts'
import type { Handover, Receipt } from './message.ts'
import { openSmtp, type SmtpOptions } from './smtp.ts'

export interface Transport extends AsyncDisposable {
  /** The name of the destination, such as `smtp://mail.example.com:587`, never with a password. */
  readonly name: string
  /**
   * Sends one message. `classifySendFailure` says what a failure means for it.
   * @throws LeadsheetError mail_unreachable (nothing can be sent now), mail_rejected (only this message)
   */
  send(message: Message, handover: Handover): Promise<Receipt>
  /**
   * Tests everything short of a message: logs in, or checks that the folder is writable.
   * @throws LeadsheetError mail_unreachable
   */
  verify(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/**
 * @param url `smtp://user:password@host:587`, `smtps://…`, or `file:` with the path of a folder. TLS is
 * required except on this machine; `?insecure=true` allows a server without TLS.
 * @throws LeadsheetError config_invalid
 */
export function openTransport(url: string, options: SmtpOptions): Transport {
  const parsed = URL.parse(url)
  if (parsed?.protocol === 'file:') return openDirectory(pathOf(url), options.log, options.dkim ?? null)
  if ((parsed?.protocol === 'smtp:' || parsed?.protocol === 'smtps:') && parsed.hostname !== '') {
    return openSmtp(parsed, options)
  }
  throw new LeadsheetError('config_invalid', 'the mail URL is none of smtp://, smtps:// and file:', {
    hint: 'Write smtp://user:password@mail.example.com:587, or file:/path/to/folder.',
  })
}

/** Reads a path: `file:outbox` is relative to the working directory, `file:///var/outbox` is absolute. */
function pathOf(url: string): string {
  return url.startsWith('file:/') ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length))
}
