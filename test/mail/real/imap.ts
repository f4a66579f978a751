/**
 * The part of IMAP (RFC 3501) that reads a mailbox: commands one after the other, and the literals in their
 * answers.
 */
import { once } from 'node:events'
import { connect } from 'node:net'

export interface Mailbox extends AsyncDisposable {
  /** Counts the messages. It must be called before a message is fetched. */
  count(): Promise<number>
  /** Fetches an item of a message, such as `BODY.PEEK[]`, as bytes. */
  fetchBytes(number: number, item: string): Promise<Buffer>
  /** Fetches an item whose answer has no literal. */
  fetchText(number: number, item: string): Promise<string>
}

export async function openMailbox(port: number, user: string, password: string): Promise<Mailbox> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let received = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    socket.emit('more')
  })
  let tag = 0
  /** Sends a command. Returns the whole answer with the line that ends it. */
  const ask = async (command: string): Promise<Buffer> => {
    const name = `a${++tag}`
    socket.write(`${name} ${command}\r\n`)
    for (;;) {
      const answer = received.toString('latin1')
      const end = new RegExp(`(?:^|\r\n)${name} (OK|NO|BAD)[^\r]*\r\n$`).exec(answer)
      if (end !== null) {
        const whole = received
        received = Buffer.alloc(0)
        if (end[1] !== 'OK') throw new Error(`${command}: ${answer}`)
        return whole
      }
      await once(socket, 'more')
    }
  }
  while (!received.includes('\r\n')) await once(socket, 'more')
  received = Buffer.alloc(0)
  await ask(`LOGIN ${user} ${password}`)
  return {
    async count() {
      // The mailbox is selected again, because the server does not report new messages otherwise.
      const answer = await ask('SELECT INBOX')
      return Number(/^\* (\d+) EXISTS\r$/m.exec(answer.toString('latin1'))?.[1])
    },
    async fetchBytes(number, item) {
      const answer = await ask(`FETCH ${number} (${item})`)
      const literal = /\{(\d+)\}\r\n/.exec(answer.toString('latin1'))
      if (literal === null) throw new Error(`${item} came without a literal`)
      const start = literal.index + literal[0].length
      return answer.subarray(start, start + Number(literal[1]))
    },
    async fetchText(number, item) {
      const [, text = ''] =
        /^\* \d+ FETCH \((.*)\)\r\n/m.exec((await ask(`FETCH ${number} (${item})`)).toString('latin1')) ?? []
      return text
    },
    async [Symbol.asyncDispose]() {
      socket.end('z LOGOUT\r\n')
      await once(socket, 'close')
    },
  }
}
