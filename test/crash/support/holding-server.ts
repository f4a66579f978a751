/** A mail server that keeps its first reply of one kind to itself, so that whoever waits for it can be killed there. */
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { SMTPServerOptions } from 'smtp-server'
import { openMailServer } from '../../support/mail-server.ts'

/** Where it holds: `body` before it has taken the message, `reply` after. */
export const HOLDS = ['greeting', 'MAIL', 'RCPT', 'body', 'reply'] as const
export type Hold = (typeof HOLDS)[number]

export interface Taken {
  readonly to: string
  readonly messageId: string
  readonly sha256: string
}

export interface HoldingServer extends AsyncDisposable {
  readonly url: string
  /** Every message that was taken, also where nobody was there any more for the reply. */
  readonly taken: readonly Taken[]
  /** Resolves when somebody waits for the reply that is held. */
  readonly isHeld: Promise<void>
  /** Gives that reply. */
  letGo(): void
}

export async function openHoldingServer(hold: Hold): Promise<HoldingServer> {
  const taken: Taken[] = []
  const held = Promise.withResolvers<void>()
  const freed = Promise.withResolvers<void>()
  let isFirst = true
  const passes = async (step: Hold): Promise<void> => {
    if (step !== hold || !isFirst) return
    isFirst = false
    held.resolve()
    await freed.promise
  }
  const options: SMTPServerOptions = {
    onConnect: (_session, done) => void passes('greeting').then(() => done()),
    onMailFrom: (_address, _session, done) => void passes('MAIL').then(() => done()),
    onRcptTo: (_address, _session, done) => void passes('RCPT').then(() => done()),
    onData: async (stream, session, done) => {
      const message = await buffer(stream).catch(() => null)
      // Who was to send it is gone.
      if (message === null) return done(new Error('cut'))
      await passes('body')
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
    isHeld: held.promise,
    letGo: freed.resolve,
    [Symbol.asyncDispose]: async () => {
      freed.resolve()
      server.dropConnections()
      await server[Symbol.asyncDispose]()
    },
  }
}
