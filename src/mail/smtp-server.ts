/** What is needed to talk to a mail server, read from its URL. */
import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'

export interface SmtpServer {
  /** `smtp://mail.example.com:587`, fit for messages. */
  readonly name: string
  readonly connection: SMTPConnectionOptions
  /** Empty when the server asks for none. */
  readonly user: string
  readonly password: string
  readonly timeouts: SmtpTimeouts
}

export interface SmtpTimeouts {
  readonly connectMs: number
  readonly greetingMs: number
  /** Silence in the midst of a session. */
  readonly socketMs: number
  /** Wait for the reply to a whole message. A short one manufactures duplicates (RFC 5321, 4.5.3.2.6). */
  readonly dataReplyMs: number
  /** How long a connection waits for another message, shorter than servers do. */
  readonly idleMs: number
  /** Everything that one message may take. */
  readonly totalMs: number
}

const TIMEOUTS: SmtpTimeouts = {
  connectMs: 10_000,
  greetingMs: 10_000,
  socketMs: 60_000,
  dataReplyMs: 600_000,
  idleMs: 10_000,
  totalMs: 900_000,
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1)$/

export function serverOf(url: URL, timeouts: Partial<SmtpTimeouts> = {}): SmtpServer {
  const isImplicitTls = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port) || (isImplicitTls ? 465 : 587)
  const isHere = LOOPBACK.test(host)
  const all = { ...TIMEOUTS, ...timeouts }
  return {
    name: `${url.protocol}//${url.hostname}:${port}`,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    timeouts: all,
    connection: {
      host,
      port,
      secure: isImplicitTls,
      // Without it, where a server offers STARTTLS it is used all the same, and nothing is said before it.
      requireTLS: !isHere && url.searchParams.get('insecure') !== 'true',
      // Said, so that no variable of the environment turns it off. The certificate of a local relay rarely names it.
      tls: { minVersion: 'TLSv1.2', rejectUnauthorized: !isHere || isImplicitTls },
      connectionTimeout: all.connectMs,
      greetingTimeout: all.greetingMs,
      socketTimeout: all.socketMs,
    },
  }
}
