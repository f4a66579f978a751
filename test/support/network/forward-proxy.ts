/** A forward proxy that reaches this machine alone, whatever host a request names. */
import { request as forward, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { openHttpServer } from './http-server.ts'

export const LOGIN = 'user:p%40ss-word-4711'

/**
 * Sends each request to the same port of this machine, and notes how it was asked.
 * @param answer the status with which the proxy answers every request itself; null to pass requests on
 */
export async function startProxy(answer: number | null = null) {
  const asked: { readonly what: string; readonly login: string | undefined }[] = []
  const note = (what: string, { headers }: IncomingMessage) =>
    asked.push({ what, login: headers['proxy-authorization'] })
  const http = await openHttpServer((request, response) => {
    note(`${request.method} ${request.url}`, request)
    if (answer !== null) return void response.writeHead(answer).end(`denied to ${LOGIN}`)
    const { port, pathname, search } = new URL(request.url ?? '')
    const onward = { port, path: pathname + search, method: request.method, headers: request.headers }
    request.pipe(
      forward({ host: '127.0.0.1', ...onward }, (reply) => {
        response.writeHead(reply.statusCode ?? 500, reply.headers)
        reply.pipe(response)
      }),
    )
  })
  http.server.on('connect', (request, socket) => {
    note(`CONNECT ${request.url}`, request)
    socket.on('error', () => undefined)
    if (answer !== null) return void socket.end(`HTTP/1.1 ${answer} No\r\n\r\n`)
    const target = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(socket)
      socket.pipe(target)
    })
    target.on('error', () => socket.destroy())
  })
  return { ...http, url: http.url.replace('//', `//${LOGIN}@`), asked }
}
