import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseFaults } from '../../src/service/faults/rules.ts'
import { openSource } from '../../src/upstream/source.ts'
import { startService } from '../service/support/service.ts'
import { SILENT } from '../support/syncing.ts'
import { bytes, type Fault, startUpstream, status } from '../support/upstream.ts'

const SCRIPT = fileURLToPath(new URL('../support/source/fetch-once.ts', import.meta.url))
const MIB = 1024 * 1024
const OPTIONS = {
  apiKey: 'test-key',
  maxWaitMs: 0,
  log: SILENT,
  backoff: { attempts: 5, baseMs: 0, maxMs: 0 },
}

interface Fetched {
  readonly message: string
  readonly cpuMs: number
  readonly grownMb: number
}

/** Fetches in a separate process, so that the measured memory is the client's. */
async function fetchOnce(url: string): Promise<Fetched> {
  const child = spawn(process.execPath, [SCRIPT, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await text(child.stdout))
}

/** Returns a fault with so many MiB of a list that never ends, in chunks. */
function endless(mib: number): Fault {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const chunk = Buffer.alloc(MIB, ' ')
    let sent = 0
    const send = (): void => {
      while (sent++ < mib) if (!response.write(chunk)) return void response.once('drain', send)
      response.end()
    }
    send()
    return true
  }
}

describe('an answer that is too much', () => {
  it('by gzip that unpacks to 300 MiB is cut at the limit, with little memory and time (row 15)', async () => {
    const faults = parseFaults({ faults: [{ fault: 'gzip_bomb', mib: 300 }] }, 'test')
    await using service = await startService({ historyDays: 3, faults })
    const { message, cpuMs, grownMb } = await fetchOnce(service.service.url)
    expect(message).toContain('api_unexpected')
    expect(message).toContain('unpacks to more than 64 MiB')
    expect(grownMb).toBeLessThan(150)
    expect(cpuMs).toBeLessThan(2000)
  })

  it('by 600 MB on the wire is cut at the limit, with little memory and time (row 15)', async () => {
    await using upstream = await startUpstream(35)
    upstream.faults.push(endless(600))
    const { message, cpuMs, grownMb } = await fetchOnce(upstream.url)
    expect(message).toContain('sent more than 32 MiB in one answer')
    expect(grownMb).toBeLessThan(150)
    expect(cpuMs).toBeLessThan(2000)
  })

  it.each([
    ['a header of 70 kB', `x-long: ${'x'.repeat(70_000)}`, 'UND_ERR_HEADERS_OVERFLOW'],
    ['two lengths', 'content-length: 2\r\ncontent-length: 5', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'],
  ])('or too odd, by %s, is refused by name (row 15)', async (_name, header, code) => {
    await using upstream = await startUpstream(35)
    const answer = bytes(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${header}\r\n\r\n{}`)
    upstream.faults.push(...Array.from({ length: 5 }, () => answer))
    const source = openSource({ baseUrl: upstream.url, ...OPTIONS })
    const failure = await source.listLeads({}, null, 10).catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ code: 'api_unreachable', message: expect.stringContaining(code) })
    await source.close()
  })

  it('for an error is read no further than a message needs, and holds up nothing (row 15)', async () => {
    await using upstream = await startUpstream(35)
    const source = openSource({ baseUrl: upstream.url, ...OPTIONS })
    const large: Fault = (_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(Buffer.alloc(10 * MIB, 'x'))
      return true
    }
    upstream.faults.push(large, large, status(503))
    expect((await source.listLeads({}, null, 10)).records).toHaveLength(10)
    await source.close()
  })
})
