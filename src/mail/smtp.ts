/**
 * A mail server. One connection, opened for the first letter and kept for those that follow soon; one message at a time,
 * each with an envelope of its own, so that one recipient's refusal says nothing about another.
 */
import type { Log } from '../log.ts'
import type { Message } from '../model.ts'
import type { DkimKey } from './dkim.ts'
import { buildMessage } from './message.ts'
import type { Handover, Receipt } from './send-outcome.ts'
import { classifySendFailure, sendError } from './smtp-failure.ts'
import { type SmtpTimeouts, serverOf } from './smtp-server.ts'
import { connect, handOver, NotBegun, type Progress, type SmtpSession } from './smtp-session.ts'

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
