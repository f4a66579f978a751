/** An HTTP server on 127.0.0.1 that receives alerts and webhooks, or fails as a test tells it. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { openHttpServer } from './http-server.ts'

export interface ReceivedPost {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly type: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>

export async function openReceiver() {
  const posts: ReceivedPost[] = []
  const server = await openHttpServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    posts.push({ method, path: url, type: headers['content-type'] ?? '', headers, body })
    if (typeof receiver.answer === 'function') receiver.answer(response)
    else response.writeHead(receiver.answer).end('ok')
  })
  const receiver = {
    url: `${server.url}/hook/s3cr3t`,
    posts,
    /** The answer from now on: a status, or a function that writes the answer. */
    answer: 200 as number | ((response: ServerResponse) => void),
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  }
  return receiver
}
