/**
 * A session with a mail server, step by step, knowing at any moment how far it got. Built on nodemailer's
 * connection and not its `sendMail`, which cannot tell a loss before the message from one after it.
 */
import { Readable } from 'node:stream'
import SMTPConnection, { type SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection'
import type { Message } from '../model.ts'
import { parseMailbox } from './address.ts'
import type { Handover } from './send-outcome.ts'
import type { SendPhase } from './smtp-failure.ts'
import type { SmtpServer } from './smtp-server.ts'

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
