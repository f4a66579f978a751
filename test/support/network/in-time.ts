/**
 * A proxy that sets the `Date` header of all answers to a time of the test's choice. The program compares
 * clocks by this header.
 */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export async function openInTime(
  url: string,
  now: () => Date,
): Promise<{ url: string; close(): Promise<void> }> {
  const { origin, pathname } = new URL(url)
  const server = createServer((asked, answer) => {
    const { method, headers } = asked
    const passed = request(`${origin}${asked.url}`, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 500, { ...response.headers, date: now().toUTCString() })
      response.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
