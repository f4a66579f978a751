/** Finds out whether a port is free, by listening on it for a moment. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { ListenAddress } from '../../config/schema-web.ts'
import { errorText } from '../../errors.ts'

const WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something listens there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not',
}

/** Returns why the address cannot be listened on, or null if it can. */
export async function findListenFault(address: ListenAddress): Promise<string | null> {
  const server = createServer()
  try {
    server.listen({ ...address, exclusive: true })
    await once(server, 'listening')
    return null
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
    return WORDS[code] ?? errorText(thrown)
  } finally {
    server.close()
  }
}
