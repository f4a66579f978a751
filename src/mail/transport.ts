/** Where messages go: a mail server, or a folder that receives them as files. */
import { fileURLToPath } from 'node:url'
import { LeadsheetError } from '../errors.ts'
import type { Message } from '../model.ts'
import { openDirectory } from './directory.ts'
import type { Handover, Receipt } from './message.ts'
import { openSmtp, type SmtpOptions } from './smtp.ts'

export interface Transport extends AsyncDisposable {
  /** The place in words, such as `smtp://mail.example.com:587`; never with a password. */
  readonly name: string
  /**
   * Hands one message over. A failure says by `classifySendFailure` what it means for this message.
   * @throws LeadsheetError mail_unreachable (nothing can be sent now), mail_rejected (not this message)
   */
  send(message: Message, handover: Handover): Promise<Receipt>
  /**
   * Goes as far as one can without a message: logs in, or looks whether the folder can be written.
   * @throws LeadsheetError mail_unreachable
   */
  verify(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/**
 * @param url `smtp://user:password@host:587`, `smtps://…`, or `file:` with the path of a folder. TLS is
 * required of every server but one on this machine; `?insecure=true` allows to go without where none is offered.
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

/** `file:outbox` is relative to the working directory, `file:///var/outbox` absolute. */
function pathOf(url: string): string {
  return url.startsWith('file:/') ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length))
}
