/**
 * Sends messages to a mail server over one connection, which is opened for the first message and kept for the
 * next ones. Messages are sent one at a time, each with its own envelope, so that a refused recipient does
 * not affect other messages.
 */
import { addAbortListener } from 'node:events'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type {
  SMTPConnectionCustomAuthContext,
  SMTPConnectionOptions,
  SMTPConnectionSendInfo,
} from 'nodemailer/lib/smtp-connection'
import type { Message } from '../domain/message.ts'
import { mailServerOf } from './mail-url.ts'
import { idOf, parseMailbox } from './message.ts'
import type { Receipt, SendOptions, Tokens, TransportOptions } from './sending.ts'
import { bodyOf, NotBegun, sendFitting, withToken } from './sending.ts'
import type { SendPhase } from './smtp-failure.ts'
import {
  isMechanismRefused,
  isTokenRefused,
  sessionAfter,
  smtpError,
  TOKEN,
  TOO_LARGE,
} from './smtp-failure.ts'

export interface SmtpOptions extends TransportOptions {
  readonly timeouts?: Partial<SmtpTimeouts>
}

/** Many servers close a connection after a hundred messages. */
const MESSAGES_PER_CONNECTION = 50

/** @param url an `smtp:` or `smtps:` URL, already checked to have a host */
export function openSmtp(
  url: URL,
  { log, dkim = null, tokens = null, returnAddress = null, timeouts }: SmtpOptions,
) {
  const server = serverOf(url, timeouts)
  let kept: SMTPConnection | null = null
  let messages = 0
  let idle: NodeJS.Timeout | undefined
  // A connection can carry only one message at a time, so messages are sent one after the other.
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
  /** Keeps the connection for the next message, unless it has carried as many messages as allowed. */
  const rest = () => {
    messages++
    if (messages % MESSAGES_PER_CONNECTION === 0) return quit()
    idle = setTimeout(() => void inTurn(async () => quit()), server.timeouts.idleMs)
    idle.unref()
  }

  const attempt = async (message: Message, bytes: Buffer, options: SendOptions): Promise<string> => {
    const isReused = kept !== null
    const way: Way = { server, signal: options.signal, phase: 'connect' }
    try {
      kept ??= await connect(way, tokens)
      way.phase = 'envelope'
      const sender = returnAddress?.replace('{id}', idOf(message.messageId))
      const { address: from } = parseMailbox(sender ?? message.from)
      const envelope = { from, to: parseMailbox(message.to).address }
      return await sendInSession(kept, way, envelope, bytes, options.onData)
    } catch (thrown) {
      if (thrown instanceof NotBegun) {
        drop()
        throw thrown.cause
      }
      const { phase } = way
      const { name, password } = server
      const error = smtpError(thrown, phase, name, { recipient: message.to, password })
      const left = sessionAfter(thrown, phase)
      if (kept === null || left !== 'kept' || !(await isReset(kept, way))) drop()
      const isConnectionLost = error.code === 'mail_unreachable' && error.failed.kind === 'transient'
      const isClosed = (phase === 'envelope' && isConnectionLost) || left === 'other'
      if (!isReused || !isClosed || options.signal.aborted) throw error
      // A server may close an idle connection just as the next message begins, or take no more messages over
      // it, for example because its token was revoked. No byte of the message was sent yet, or the server has
      // refused it, so another attempt is safe. A third attempt never follows, because the second one opens a
      // new connection.
      return attempt(message, bytes, options)
    }
  }

  return {
    name: server.name,
    send: (message: Message, options: SendOptions): Promise<Receipt> =>
      inTurn(async () => {
        clearTimeout(idle)
        const signal = AbortSignal.any([options.signal, AbortSignal.timeout(server.timeouts.totalMs)])
        const response = await sendFitting(message, dkim, { ...options, signal }, attempt, () =>
          kept === null ? 0 : maxSizeOf(kept),
        ).finally(() => kept && rest())
        log.debug({ server: server.name, messageId: message.messageId, response }, 'message handed over')
        return { response }
      }),
    verify: (signal: AbortSignal): Promise<string> =>
      inTurn(async () => {
        const way: Way = { server, signal, phase: 'connect' }
        try {
          kept ??= await connect(way, tokens)
          return 'lets us in'
        } catch (thrown) {
          throw smtpError(thrown, way.phase, server.name, { password: server.password })
        }
      }),
    [Symbol.asyncDispose]: () =>
      inTurn(async () => {
        quit()
        await tokens?.close()
      }),
  }
}

// Not nodemailer's `sendMail`, which does not show whether the connection broke before or after sending.

/** One attempt. The session updates its phase, so that the code that catches a failure can read it. */
interface Way {
  readonly server: SmtpServer
  readonly signal: AbortSignal
  phase: SendPhase
}

/** Opens a session. The token comes before the connection, because no server waits long for a login. */
function connect(way: Way, tokens: Tokens | null): Promise<SMTPConnection> {
  if (tokens === null) return openSession(way, null)
  const { server, signal } = way
  const open = (token: string) => openSession(way, token)
  return withToken({ tokens, place: server.name, signal }, open, isTokenRefused)
}

/** Opens a session, and logs in if there is a token or the settings name a user. */
async function openSession(way: Way, token: string | null): Promise<SMTPConnection> {
  const { server, signal } = way
  way.phase = 'connect'
  const { default: Connection } = await import('nodemailer/lib/smtp-connection')
  const connection = new Connection({
    ...server.connection,
    customAuth: { [TOKEN]: (session) => sayToken(session, server.user, token ?? '') },
  })
  // An error during a step reaches the caller of the step. An error between two steps is ignored, because the
  // next step then finds the connection closed.
  connection.on('error', () => {})
  // The timeout of nodemailer covers the greeting too, for which a server may take minutes.
  const connecting = setTimeout(() => {
    if (connection.stage !== 'init') return
    connection.emit('error', Object.assign(new Error('Connection timeout'), { code: 'ETIMEDOUT' }))
  }, server.timeouts.connectMs)
  try {
    await step(connection, signal, (done) => connection.connect(done))
    if (token === null && server.user === '') return connection
    way.phase = 'login'
    if (token === null) await logIn(connection, way)
    else await step(connection, signal, (done) => connection.login({ method: TOKEN }, done))
    return connection
  } catch (thrown) {
    connection.close()
    throw thrown
  } finally {
    clearTimeout(connecting)
  }
}

/** Logs in. Some servers announce AUTH PLAIN, or announce nothing, and take only AUTH LOGIN. */
async function logIn(connection: SMTPConnection, { server, signal }: Way): Promise<void> {
  const credentials = { user: server.user, pass: server.password }
  try {
    await step(connection, signal, (done) => connection.login({ credentials }, done))
  } catch (thrown) {
    if (!isMechanismRefused(thrown)) throw thrown
    await step(connection, signal, (done) => connection.login({ credentials, method: 'LOGIN' }, done))
  }
}

/**
 * Logs in with a token (https://developers.google.com/workspace/gmail/imap/xoauth2-protocol). Nodemailer's own way
 * would forget what the server says of a refused token.
 */
async function sayToken(
  { sendCommand, reject }: SMTPConnectionCustomAuthContext,
  user: string,
  token: string,
): Promise<void> {
  const response = Buffer.from(`user=${user}\x01auth=Bearer ${token}\x01\x01`).toString('base64')
  const say = async (line: string): Promise<string> => (await sendCommand(line)).response
  let reply = await say(`AUTH XOAUTH2 ${response}`)
  // Without a challenge the server asks for the response, which it did not read beside the command.
  if (/^334\s*$/.test(reply)) reply = await say(response)
  const challenge = /^334\s+(\S+)/.exec(reply)?.[1]
  if (challenge !== undefined) reply = await say('')
  if (reply.startsWith('2')) return
  const said = Buffer.from(challenge ?? '', 'base64').toString()
  reject(Object.assign(new Error('Invalid login'), { challenge: said }))
}

/** Ends the refused message, so that the session can carry the next one. Returns false if it cannot. */
function isReset(session: SMTPConnection, { server, signal }: Way): Promise<boolean> {
  setPatience(session, server.timeouts.socketMs)
  return step(session, signal, (done) => session.reset(done)).then(
    () => true,
    () => false,
  )
}

/** Returns the size in bytes that the server takes at most (RFC 1870); 0 if it names none. */
function maxSizeOf(session: SMTPConnection): number {
  const size: unknown = Reflect.get(session, '_maxAllowedSize')
  return typeof size === 'number' ? size : 0
}

/** @returns the server's reply to the whole message */
async function sendInSession(
  session: SMTPConnection,
  way: Way,
  envelope: Readonly<Record<'from' | 'to', string>>,
  bytes: Buffer,
  onData: SendOptions['onData'],
): Promise<string> {
  const { socketMs, dataReplyMs } = way.server.timeouts
  // Read only after the reply 354. If the connection breaks after that, delivery is unknown.
  const body = bodyOf(bytes, async () => {
    await onData?.()
    way.phase = 'data'
    setPatience(session, dataReplyMs)
  })
  const maxSize = maxSizeOf(session)
  if (maxSize > 0 && bytes.length > maxSize) {
    const problem = `the message has ${bytes.length} bytes, and the server takes at most ${maxSize}`
    throw Object.assign(new Error(problem), { code: TOO_LARGE })
  }
  const sent = { ...envelope, size: bytes.length }
  const send = (done: Done<SMTPConnectionSendInfo>) => session.send(sent, body, done)
  const { response } = await step(session, way.signal, send)
  setPatience(session, socketMs)
  return response
}

function setPatience(session: SMTPConnection, ms: number): void {
  if (session._socket) session._socket.setTimeout(ms)
}

type Done<T> = (error?: Error | null, result?: T) => void

/** Also rejected if the connection breaks or the signal is aborted. */
async function step<T>(
  connection: SMTPConnection,
  signal: AbortSignal,
  begin: (done: Done<T>) => void,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const fail = (text: string, code: string) =>
    reject(Object.assign(new Error(text, { cause: signal.reason }), { code }))
  const onEnd = () => fail('the connection ended', 'ECONNECTION')
  using _listener = addAbortListener(signal, () => fail('given up', 'EABORT'))
  connection.on('error', reject).on('end', onEnd)
  try {
    if (!signal.aborted) begin((error, result) => (error ? reject(error) : resolve(result as T)))
    return await promise
  } finally {
    connection.off('error', reject).off('end', onEnd)
  }
}

type SmtpServer = ReturnType<typeof serverOf>

/** The times of RFC 5321, 4.5.3.2: servers that check a sender may take minutes for an answer. */
const TIMEOUTS = {
  connectMs: 30_000,
  greetingMs: 300_000,
  /** The maximum time in a session without any data sent or received, such as for the answer to RCPT. */
  socketMs: 300_000,
  /**
   * A short wait causes duplicates, because a message without a reply is sent again (RFC 5321, 4.5.3.2.6).
   */
  dataReplyMs: 600_000,
  /** The time for which an idle connection is kept for another message; servers allow more. */
  idleMs: 10_000,
  /** The time limit for all steps of one message together. */
  totalMs: 3_600_000,
}
export type SmtpTimeouts = Readonly<typeof TIMEOUTS>

/** Reads the connection details of a mail server from its URL. */
export function serverOf(url: URL, timeouts: Partial<SmtpTimeouts> = {}) {
  const { isHere, connection, ...login } = mailServerOf(url, [465, 587])
  const all: SmtpTimeouts = { ...TIMEOUTS, ...timeouts }
  return {
    ...login,
    timeouts: all,
    connection: {
      ...connection,
      // Requires TLS, unless the server runs on this machine or the URL allows a server without TLS. In these
      // cases, STARTTLS is still used if the server offers it.
      requireTLS: !isHere && url.searchParams.get('insecure') !== 'true',
      connectionTimeout: all.connectMs + all.greetingMs,
      greetingTimeout: all.greetingMs,
      socketTimeout: all.socketMs,
    } satisfies SMTPConnectionOptions,
  }
}
