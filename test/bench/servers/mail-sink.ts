/** A mail server that takes every message and keeps none, in a process of its own. Prints its address. */
import { openMailServer } from '../../support/mail-server.ts'

const server = await openMailServer({
  onData: (stream, _, done) => {
    stream.resume()
    stream.once('end', () => done())
  },
})
process.stdin.resume().once('end', () => process.exit())
console.log(server.url)
