/** An HTTP server on 127.0.0.1 that receives alerts and webhooks, or fails as a test tells it. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface ReceivedPost {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly type: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly posts: readonly ReceivedPost[]
  /** The answer from now on: a status, or a function that writes the answer. */
  answer: number | ((response: ServerResponse) => void)
}

export async function openReceiver(): Promise<Receiver> {
  const posts: ReceivedPost[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    posts.push({ method, path: url, type: headers['content-type'] ?? '', headers, body })
    if (typeof receiver.answer === 'function') receiver.answer(response)
    else response.writeHead(receiver.answer).end('ok')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook/s3cr3t`,
    posts,
    answer: 200,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
