/**
 * The upstream of the bench: pages of generated leads, made once and served from memory, so that the time
 * measured is the client's. A process of its own: `node upstream.ts LEADS PAGE_SIZE` prints its address.
 */
import { createServer } from 'node:http'
import { generateLead } from './generate.ts'

const leads = Number(process.argv[2])
const pageSize = Number(process.argv[3])
const pages: Buffer[] = []
for (let start = 0; start < leads; start += pageSize) {
  const data = Array.from({ length: Math.min(pageSize, leads - start) }, (_, index) =>
    generateLead(start + index),
  )
  const next = start + pageSize < leads ? String(pages.length + 1) : null
  pages.push(
    Buffer.from(JSON.stringify({ data, page: { next_cursor: next, has_more: next !== null, total: leads } })),
  )
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const body = pages[Number(url.searchParams.get('cursor') ?? 0)] ?? Buffer.from('{}')
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}`)
})
