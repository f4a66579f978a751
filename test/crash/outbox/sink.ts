/**
 * A mail server in its own process that fails now and then: `node sink.ts LOG FAULTS`. It logs what it did
 * with each message as lines of JSON, and prints how far a session is, so that a test can kill the sender
 * there. The same seed makes the same attempts fail.
 */
import { createHash } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { random } from '../../support/random.ts'

/** The shares of faults, from 0 to 1. */
export interface SinkFaults {
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

/** The result of an attempt to send a message. */
export type Attempt = TurnedAway | Deferral | Arrival

/** A session that ended before the recipient was named. */
interface TurnedAway {
  readonly to: null
  readonly end: 'turned away'
}

/** An attempt that ended before the message was transferred. */
interface Deferral {
  readonly to: string
  readonly end: 'deferred'
}

/** A message that was received up to its final dot. */
export interface Arrival {
  readonly to: string
  /** `taken`: accepted. `lost`: accepted, but without a reply. `refused`: not accepted. */
  readonly end: 'taken' | 'lost' | 'refused'
  readonly messageId: string
  readonly isSigned: boolean
  /** The hash of the bytes between 354 and the final dot. */
  readonly sha256: string
}

/** The lines that the mail server prints. */
export type SinkEvent = `port ${number}` | 'MAIL' | 'RCPT' | 'DATA' | 'bytes' | 'dot'

const END = '\r\n.\r\n'

if (import.meta.main) openSink(process.argv[2] ?? '', JSON.parse(process.argv[3] ?? ''))

function openSink(log: string, faults: SinkFaults): void {
  const attempts = new Map<string, number>()
  let sessions = 0
  const chance = createChance(faults.seed)
  const server = createServer((socket) => serve(socket))
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address !== 'string') tell(`port ${address.port}`)
  })

  function serve(socket: Socket): void {
    socket.on('error', () => {})
    let to = ''
    let body: string | null = null
    let rest = ''
    const reply = (text: string): void => {
      socket.write(`${text}\r\n`)
    }

    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1')
      if (body !== null) {
        tell('bytes')
        body += rest
        rest = ''
        if (!body.endsWith(END)) return
        take(body)
        body = null
        return
      }
      const lines = rest.split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) obey(line)
    })

    function obey(line: string): void {
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'QUIT') socket.end('221 Bye\r\n')
      else if (verb === 'RCPT') meet(/<(.*)>/.exec(line)?.[1] ?? '')
      else if (verb === 'DATA') {
        tell('DATA')
        body = ''
        reply('354 Go ahead')
      } else {
        if (verb === 'MAIL') tell('MAIL')
        reply('250 Ok')
      }
    }

    function meet(recipient: string): void {
      tell('RCPT')
      to = recipient
      const attempt = (attempts.get(to) ?? 0) + 1
      attempts.set(to, attempt)
      const isDeferred = attempt === 1 && chance(`greylisted ${to}`) < faults.greylisted
      if (isDeferred) note({ to, end: 'deferred' })
      reply(isDeferred ? '450 4.7.1 later' : '250 Ok')
    }

    function take(message: string): void {
      const attempt = `${attempts.get(to)} ${to}`
      const isRefused = chance(`refused ${attempt}`) < faults.refusals
      const isLost = !isRefused && chance(`lost ${attempt}`) < faults.lostReplies
      note({
        to,
        end: isRefused ? 'refused' : isLost ? 'lost' : 'taken',
        messageId: /^message-id: *(\S+)/im.exec(message)?.[1] ?? '',
        isSigned: /^dkim-signature:/im.test(message),
        sha256: createHash('sha256').update(message, 'latin1').digest('hex'),
      })
      tell('dot')
      if (isLost) socket.destroy()
      else reply(isRefused ? '451 4.3.0 later' : '250 2.0.0 Ok')
    }

    function note(attempt: Attempt): void {
      appendFileSync(log, `${JSON.stringify(attempt)}\n`)
    }

    const isTurnedAway = chance(`turned away ${++sessions}`) < faults.turnedAway
    if (isTurnedAway) {
      note({ to: null, end: 'turned away' })
      socket.end('421 4.3.2 busy\r\n')
    } else reply('220 sink.example.org ESMTP')
  }
}

/** Returns a function from texts to numbers of at least 0 and below 1. The seed decides them. */
function createChance(seed: number): (about: string) => number {
  return (about) => random(createHash('sha256').update(`${seed} ${about}`).digest().readUInt32BE())()
}

function tell(event: SinkEvent): void {
  process.stdout.write(`${event}\n`)
}
