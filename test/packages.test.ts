/** Packages that are loaded in parts still do all of their work. */
import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { loadPackage } from '../src/packages.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from './support/mail/certificate.ts'

test('the HTTP client speaks HTTP/2 with servers that do, over every connection', async () => {
  const server = createSecureServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (request, response) =>
    response.end(request.httpVersion),
  )
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const origin = `https://0.0.0.0:${(server.address() as AddressInfo).port}`
  const { Agent } = loadPackage('undici')
  const agents = [1, 2].map(() => new Agent({ connect: { ca: CERTIFICATE } }))
  try {
    for (const agent of agents) {
      const { body } = await agent.request({ origin, path: '/', method: 'GET' })
      expect(await body.text()).toBe('2.0')
    }
  } finally {
    for (const agent of agents) await agent.close()
    server.close()
  }
})
