/**
 * A proxy that sets the `Date` header of all answers to a time of the test's choice. The program compares
 * clocks by this header.
 */
import { request } from 'node:http'
import { openHttpServer } from './http-server.ts'

export async function openInTime(url: string, now: () => Date) {
  const { origin, pathname } = new URL(url)
  const server = await openHttpServer((asked, answer) => {
    const { method, headers } = asked
    const passed = request(`${origin}${asked.url}`, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 500, { ...response.headers, date: now().toUTCString() })
      response.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  })
  return { url: server.url + pathname, close: async () => server[Symbol.asyncDispose]() }
}
