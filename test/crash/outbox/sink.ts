/** A mail server that fails now and then. The same seed makes the same attempts fail. */
import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import type { SMTPServerOptions } from 'smtp-server'
import { onTestFinished } from 'vitest'
import { openMailServer, refusal } from '../../support/mail-server.ts'
import { pick, random } from '../../support/random.ts'

/** The shares of faults, from 0 to 1. */
interface SinkFaults {
  readonly seed: number
  /** The share of sessions refused before anything is said (421). */
  readonly turnedAway: number
  /** The share of accepted messages without a reply: the connection ends instead. */
  readonly lostReplies: number
  /** The share of messages refused for now after their final dot. */
  readonly refusals: number
  /** The share of recipients refused at their first attempt (450). */
  readonly greylisted: number
}

/** A message that was received up to its final dot. */
export interface Arrival {
  readonly to: string
  /** `taken`: accepted. `lost`: accepted, but without a reply. `refused`: not accepted. */
  readonly end: 'taken' | 'lost' | 'refused'
  readonly messageId: string
  readonly isSigned: boolean
  readonly sha256: string
}

export type Sink = Awaited<ReturnType<typeof startSink>>

/** Opens what a server notes of its messages, which pass these steps, and the chance by which it fails. */
export function openNotes<Step extends string>(seed: number, steps: readonly Step[]) {
  const attempts = new Map<string, number>()
  const events = new EventEmitter()
  return {
    arrivals: [] as Arrival[],
    /** The numbers of sessions and recipients that were refused, and of messages that were recognised and not taken again. */
    refused: { turnedAway: 0, deferred: 0, recognised: 0 },
    attempts,
    countAttempt(to: string): number {
      attempts.set(to, (attempts.get(to) ?? 0) + 1)
      return attempts.get(to) ?? 0
    },
    /** Returns a number from 0 up to 1, which the seed decides. */
    draw: (about: string) =>
      random(createHash('sha256').update(`${seed} ${about}`).digest().readUInt32BE())(),
    reach: (step: Step) => void events.emit(step),
    /** Resolves when messages have come to one of the steps so many times from now on. */
    async untilStep(times: number, next: () => number): Promise<void> {
      const step = pick(next, steps)
      for (let left = times; left > 0; left--) await once(events, step)
    },
  }
}

/**
 * Starts the server for the current test.
 * @param login what its logins need; it lets everybody in without one
 */
export async function startSink(faults: SinkFaults, login: SMTPServerOptions = {}) {
  const notes = openNotes(faults.seed, ['MAIL', 'RCPT', 'DATA', 'bytes', 'dot'])
  const { arrivals, refused, attempts, countAttempt, reach, untilStep } = notes
  let sessions = 0
  const fails = (about: string, share: number): boolean => notes.draw(about) < share
  const server = await openMailServer({
    ...login,
    disableReverseLookup: true,
    onConnect(_session, done) {
      if (!fails(`turned away ${++sessions}`, faults.turnedAway)) return done()
      refused.turnedAway++
      done(refusal(421, '4.3.2 busy'))
    },
    onMailFrom(address, session, done) {
      reach('MAIL')
      if (login.onMailFrom) login.onMailFrom(address, session, done)
      else done()
    },
    onRcptTo({ address }, _session, done) {
      reach('RCPT')
      if (countAttempt(address) > 1 || !fails(`greylisted ${address}`, faults.greylisted)) return done()
      refused.deferred++
      done(refusal(450, '4.7.1 later'))
    },
    async onData(stream, { envelope, remotePort }, done) {
      reach('DATA')
      stream.on('data', () => reach('bytes'))
      const message = await buffer(stream).catch(() => null)
      // The sender has gone.
      if (message === null) return done(new Error('cut'))
      const to = envelope.rcptTo[0]?.address ?? ''
      const attempt = `${attempts.get(to)} ${to}`
      const isRefused = fails(`refused ${attempt}`, faults.refusals)
      const isLost = !isRefused && fails(`lost ${attempt}`, faults.lostReplies)
      const text = message.toString('latin1')
      arrivals.push({
        to,
        end: isRefused ? 'refused' : isLost ? 'lost' : 'taken',
        messageId: /^message-id: *(\S+)/im.exec(text)?.[1] ?? '',
        isSigned: /^dkim-signature:/im.test(text),
        sha256: createHash('sha256').update(message).digest('hex'),
      })
      reach('dot')
      if (isLost) server.dropConnections(remotePort)
      else done(isRefused ? refusal(451, '4.3.0 later') : null)
    },
  })
  onTestFinished(() => {
    server.dropConnections()
    return server[Symbol.asyncDispose]()
  })
  return { url: server.url, arrivals, refused, untilStep }
}
