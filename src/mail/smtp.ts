/**
 * A mail server. One connection, opened for the first letter and kept for those that follow soon; one message at a time,
 * each with an envelope of its own, so that one recipient's refusal says nothing about another.
 */

import { Readable } from 'node:stream'
import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'
import SMTPConnection, { type SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection'
import type { Log } from '../log.ts'
import type { Message } from '../model.ts'
import { parseMailbox } from './address.ts'
import type { DkimKey } from './dkim.ts'
import type { Handover, Receipt } from './message.ts'
import { buildMessage } from './message.ts'
import type { SendPhase } from './smtp-failure.ts'
import { classifySendFailure, sendError } from './smtp-failure.ts'

export interface SmtpOptions {
  readonly log: Log
  /** Whose signature the messages carry; null for none. */
  readonly dkim?: DkimKey | null
  readonly timeouts?: Partial<SmtpTimeouts>
}

/** Servers end a connection after some messages, many after a hundred; ours has ended by then. */
const MESSAGES_PER_CONNECTION = 50

/**
 * @param url `smtp:` or `smtps:`, already checked to have a host
 * @returns a `Transport`
 */
export function openSmtp(url: URL, { log, dkim = null, timeouts }: SmtpOptions) {
  const server = serverOf(url, timeouts)
  let kept: SmtpSession | null = null
  let messages = 0
  let idle: NodeJS.Timeout | undefined
  // A connection carries one message at a time, so messages wait for one another.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work)
    turn = mine.catch(() => {})
    return mine
  }
  const drop = () => {
    kept?.close()
    kept = null
  }
  const quit = () => {
    clearTimeout(idle)
    kept?.quit()
    drop()
  }
  /** The connection waits for the next message, if there is room for one. */
  const rest = () => {
    messages++
    if (messages % MESSAGES_PER_CONNECTION === 0) return quit()
    idle = setTimeout(() => void inTurn(async () => quit()), server.timeouts.idleMs)
    idle.unref()
  }

  const attempt = async (message: Message, bytes: Buffer, handover: Handover): Promise<string> => {
    const isReused = kept !== null
    const progress: Progress = { phase: 'connect' }
    try {
      kept ??= await connect(server, handover.signal, progress)
      progress.phase = 'envelope'
      return await handOver(kept, server, message, bytes, handover, progress)
    } catch (thrown) {
      drop()
      if (thrown instanceof NotBegun) throw thrown.cause
      const { phase } = progress
      const error = sendError(thrown, phase, server.name, {
        recipient: message.to,
        secret: server.password,
      })
      const isConnectionLost = error.code === 'mail_unreachable' && classifySendFailure(error) === 'transient'
      // A server may close an idle connection just as it is used again. Nothing of the message has left yet, and
      // now that none is kept, the second attempt is the last.
      if (isReused && phase === 'envelope' && isConnectionLost && !handover.signal.aborted) {
        return attempt(message, bytes, handover)
      }
      throw error
    }
  }

  const close = () => inTurn(async () => quit())
  return {
    name: server.name,
    send: (message: Message, handover: Handover): Promise<Receipt> =>
      inTurn(async () => {
        clearTimeout(idle)
        const bytes = await buildMessage(message, dkim)
        const signal = AbortSignal.any([handover.signal, AbortSignal.timeout(server.timeouts.totalMs)])
        const response = await attempt(message, bytes, { ...handover, signal })
        rest()
        log.debug({ server: server.name, messageId: message.messageId, response }, 'message handed over')
        return { response }
      }),
    verify: (signal: AbortSignal): Promise<void> =>
      inTurn(async () => {
        const progress: Progress = { phase: 'connect' }
        try {
          kept ??= await connect(server, signal, progress)
        } catch (thrown) {
          throw sendError(thrown, progress.phase, server.name, { secret: server.password })
        }
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/*
 * A session with a mail server, step by step, knowing at any moment how far it got. Built on nodemailer's
 * connection and not its `sendMail`, which cannot tell a loss before the message from one after it.
 */

export type SmtpSession = SMTPConnection

/** Written to as the session goes on, so that whoever catches its failure knows how far it was. */
export interface Progress {
  phase: SendPhase
}

/** What was to be done before the first byte failed; the cause is the error of whoever wanted it done. */
export class NotBegun extends Error {}

/** Opens a session and logs in, if there is somebody to log in. */
export async function connect(
  server: SmtpServer,
  signal: AbortSignal,
  progress: Progress,
): Promise<SmtpSession> {
  const connection = new SMTPConnection(server.connection)
  // Errors reach whoever waits for a step; between two nobody does, and the next one meets a closed connection.
  connection.on('error', () => {})
  try {
    await step(connection, signal, (done) => connection.connect(done))
    if (server.user !== '') {
      progress.phase = 'login'
      const credentials = { user: server.user, pass: server.password }
      await step(connection, signal, (done) => connection.login({ credentials }, done))
    }
    return connection
  } catch (thrown) {
    connection.close()
    throw thrown
  }
}

/** @returns the server's reply to the whole message */
export async function handOver(
  session: SmtpSession,
  server: SmtpServer,
  message: Message,
  bytes: Buffer,
  { signal, onData }: Handover,
  progress: Progress,
): Promise<string> {
  const body = bodyOf(bytes, async () => {
    await onData?.()
    progress.phase = 'data'
    setPatience(session, server.timeouts.dataReplyMs)
  })
  const envelope = {
    from: parseMailbox(message.from).address,
    to: parseMailbox(message.to).address,
    size: bytes.length,
  }
  const info = await step<SMTPConnectionSendInfo>(session, signal, (done) =>
    session.send(envelope, body, done),
  )
  setPatience(session, server.timeouts.socketMs)
  return info.response
}

/** Read only after the server said 354, so that its first read is the moment from which a loss leaves doubt. */
function bodyOf(bytes: Buffer, beforeFirstByte: () => Promise<void>): Readable {
  return new Readable({
    read() {
      beforeFirstByte().then(
        () => {
          this.push(bytes)
          this.push(null)
        },
        (cause: unknown) => this.destroy(new NotBegun('nothing was sent', { cause })),
      )
    },
  })
}

function setPatience(session: SmtpSession, ms: number): void {
  if (session._socket) session._socket.setTimeout(ms)
}

/** One step as a promise; a lost connection and the signal end it too. */
function step<T>(
  connection: SMTPConnection,
  signal: AbortSignal,
  begin: (done: (error?: Error | null, result?: T) => void) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const settle = (error: Error | null | undefined, result?: T) => {
      connection.off('error', settle)
      connection.off('end', onEnd)
      signal.removeEventListener('abort', onAbort)
      if (error) reject(error)
      else resolve(result as T)
    }
    const onEnd = () => settle(Object.assign(new Error('the connection ended'), { code: 'ECONNECTION' }))
    const onAbort = () =>
      settle(Object.assign(new Error('given up', { cause: signal.reason }), { code: 'EABORT' }))
    connection.on('error', settle)
    connection.on('end', onEnd)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    else begin(settle)
  })
}

/* What is needed to talk to a mail server, read from its URL. */

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
