/** Real mail servers on 127.0.0.1: one accepts mail, and one fails exactly as a script tells it. */
import { createServer, type Server, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { listen } from './network/http-server.ts'

export type MailServer = Awaited<ReturnType<typeof openMailServer>>

/** Returns what a handler of the server passes on to refuse a command. */
export function refusal(code: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode: code })
}

/** Returns a handler of the server that takes a message unless `judge` refuses it. */
export function judging(
  judge: (message: Buffer, session: SMTPServerSession) => Error | null,
): NonNullable<SMTPServerOptions['onData']> {
  return async (stream, session, done) => done(judge(await buffer(stream), session))
}

/**
 * Starts a server that accepts all mail unless the options say otherwise. STARTTLS and logins are off unless
 * the options turn them on.
 * @param beforeReply awaited after a message has been received and before the server replies
 */
export async function openMailServer(
  options: SMTPServerOptions = {},
  beforeReply: () => Promise<void> = async () => {},
) {
  const received: { from: string; to: string[]; raw: Buffer; mail: Email }[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: async (stream, { envelope: { mailFrom, rcptTo } }, done) => {
      // A client may leave in the midst of its message.
      const raw = await buffer(stream).catch(() => null)
      if (raw === null) return
      received.push({
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        raw,
        mail: await PostalMime.parse(raw),
      })
      await beforeReply()
      done()
    },
    ...options,
  })
  // Some tests are about clients that give up or reject the certificate.
  server.on('error', () => {})
  const { sockets, connections } = watchConnections(server.server)
  const port = await listen(server.server)
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    received,
    /** Returns the number of connections made so far. */
    connections,
    /** Returns the number of open connections. */
    open: () => sockets.size,
    /** Closes every open connection, as servers do with idle clients, or that of a client's port. */
    dropConnections: (port?: number) => {
      for (const socket of sockets) if ((port ?? socket.remotePort) === socket.remotePort) socket.destroy()
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** A reply, or what the server does instead of replying. */
export type Answer = string | 'drop' | 'stall'
export type Step =
  | 'greeting'
  | 'EHLO'
  | 'STARTTLS'
  | 'AUTH'
  | 'response'
  | 'MAIL'
  | 'RCPT'
  | 'DATA'
  | 'body'
  | 'RSET'
  | 'QUIT'

const USUAL: Readonly<Record<Step, Answer>> = {
  greeting: '220 mail.example.com ESMTP',
  EHLO: '250-mail.example.com\r\n250 AUTH PLAIN',
  STARTTLS: '502 5.5.2 Command not recognized',
  AUTH: '235 2.7.0 Accepted',
  // The answer to the line that follows a challenge.
  response: '235 2.7.0 Accepted',
  MAIL: '250 2.1.0 Ok',
  RCPT: '250 2.1.5 Ok',
  DATA: '354 Go ahead',
  body: '250 2.0.0 Queued as 4F2A',
  RSET: '250 2.0.0 Ok',
  QUIT: '221 Bye',
}

/** Starts a server that answers as usual, except where the script names another answer. It takes AUTH LOGIN. */
export async function openScriptedServer(script: Partial<Record<Step, Answer>>) {
  const commands: string[] = []
  let bodies = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    let isBody = false
    let isChallenged = false
    /** The lines of AUTH LOGIN that are still to come: the user and the password. */
    let loginLines = 0
    let rest = ''
    const answer = (step: Step): void => {
      const reply = script[step] ?? USUAL[step]
      if (reply === 'drop') socket.destroy()
      else if (reply !== 'stall') socket.write(`${reply}\r\n`)
      if (step === 'QUIT') socket.end()
      isChallenged = step === 'AUTH' && reply.startsWith('334')
      if (step === 'DATA') isBody = reply.startsWith('354')
    }
    const take = (line: string): void => {
      if (isBody) {
        if (line !== '.') return
        isBody = false
        bodies++
        answer('body')
        return
      }
      commands.push(line)
      if (isChallenged) {
        answer('response')
        return
      }
      if (line === 'AUTH LOGIN') loginLines = 3
      if (loginLines > 0) {
        loginLines--
        socket.write(loginLines === 0 ? '235 2.7.0 Accepted\r\n' : '334 VXNlcm5hbWU6\r\n')
        return
      }
      const verb = line.split(' ')[0]?.toUpperCase() ?? ''
      if (verb in USUAL) answer(verb as Step)
      else socket.write('502 5.5.2 Command not recognized\r\n')
    }
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(line)
    })
    answer('greeting')
  })
  const { sockets, connections } = watchConnections(server)
  const port = await listen(server)
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    /** All lines that clients have sent outside message bodies. */
    commands,
    /** Returns the number of connections made so far. */
    connections,
    /** Returns the number of message bodies that arrived completely, even if the server then refused them. */
    bodies: () => bodies,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Keeps the open connections of a server, and counts all. */
function watchConnections(server: Pick<Server, 'on'>) {
  const sockets = new Set<Socket>()
  let count = 0
  server.on('connection', (socket: Socket) => {
    count++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  return { sockets, connections: () => count }
}
