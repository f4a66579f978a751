/**
 * A mail server that holds back one reply, so that the waiting process can be killed there.
 */
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { SMTPServerOptions } from 'smtp-server'
import { openMailServer } from '../../support/mail-server.ts'

/** The step at which the reply is held. At `RCPT` the message has not been accepted yet, at `reply` it has. */
type Hold = 'RCPT' | 'reply'

export type HoldingServer = Awaited<ReturnType<typeof openHoldingServer>>

/** @param at the number of the reply that is held, among those of its kind */
export async function openHoldingServer(hold: Hold, at = 1) {
  /** All accepted messages, also if the sender was gone before the reply. */
  const taken: { readonly to: string; readonly messageId: string; readonly sha256: string }[] = []
  const held = Promise.withResolvers<void>()
  const freed = Promise.withResolvers<void>()
  let replies = 0
  const passes = async (step: Hold): Promise<void> => {
    if (step !== hold || ++replies !== at) return
    held.resolve()
    await freed.promise
  }
  const options: SMTPServerOptions = {
    onRcptTo: (_address, _session, done) => void passes('RCPT').then(() => done()),
    onData: async (stream, session, done) => {
      const message = await buffer(stream).catch(() => null)
      // The sender has gone.
      if (message === null) return done(new Error('cut'))
      for (const { address } of session.envelope.rcptTo) {
        taken.push({
          to: address,
          messageId: /^message-id: *(\S+)/im.exec(message.toString('latin1'))?.[1] ?? '',
          sha256: createHash('sha256').update(message).digest('hex'),
        })
      }
      await passes('reply')
      done()
    },
  }
  const server = await openMailServer(options)
  return {
    url: server.url,
    taken,
    /** Resolves when a sender waits for the held reply. */
    isHeld: held.promise,
    /** Sends the held reply. */
    letGo: freed.resolve,
    [Symbol.asyncDispose]: async () => {
      freed.resolve()
      server.dropConnections()
      await server[Symbol.asyncDispose]()
    },
  }
}
