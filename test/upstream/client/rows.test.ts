/** Lists that come as CSV or NDJSON, which are read by the same rules as JSON, and XML, which is refused. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import { openSource } from '../../../src/upstream/source.ts'
import { SILENT } from '../../support/syncing.ts'

interface Sent {
  readonly type?: string
  readonly body: string | Buffer
  /** Sends less than the whole body, and ends the connection without a sign that something is missing. */
  readonly isUnbounded?: boolean
}

/** Reads a list by a source, and returns the values of its records. */
async function read({ type, body, isUnbounded }: Sent): Promise<unknown[]> {
  const server = createServer((request, response) => {
    const head = type === undefined ? {} : { 'content-type': type }
    if (isUnbounded === true) {
      request.socket.write(`HTTP/1.0 200 OK\r\ncontent-type: ${type}\r\n\r\n${body}`)
      request.socket.end()
    } else response.writeHead(200, head).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const source = openSource({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    profile: parseProfile(
      { name: 'test', paging: { kind: 'none' }, mapping: { lead: { id: 'id' } } },
      'test',
    ),
    maxWaitMs: 1000,
    apiKey: 'key-of-the-test',
    log: SILENT,
    backoff: { attempts: 2, baseMs: 0, maxMs: 0 },
  })
  try {
    const { records } = await source.listLeads({}, null, 10)
    return records.map(({ value }) => value)
  } finally {
    await source.close()
    server.close()
    server.closeAllConnections()
  }
}

const CSV = 'text/csv; charset=utf-8'
const NDJSON = 'application/x-ndjson'
const ROWS = [
  { id: '1', name: 'Ada' },
  { id: '2', name: 'Bob' },
]

describe('a list', () => {
  it.each<readonly [string, Sent, unknown[]]>([
    ['as CSV', { type: CSV, body: 'id,name\n1,Ada\n2,Bob\n' }, ROWS],
    ['as CSV without a last line break', { type: CSV, body: 'id,name\r\n1,Ada\r\n2,Bob' }, ROWS],
    ['as CSV with semicolons', { type: 'application/csv', body: 'id;name\n1;Ada\n2;Bob\n' }, ROWS],
    [
      'as values between tabs',
      { type: 'text/tab-separated-values', body: 'id\tname\n1\tAda\n2\tBob\n' },
      ROWS,
    ],
    ['as CSV that is called plain text', { type: 'text/plain', body: '"id","name"\n1,Ada\n2,Bob\n' }, ROWS],
    [
      'as CSV that is called a file',
      { type: 'application/octet-stream', body: 'id|name\n1|Ada\n2|Bob\n' },
      ROWS,
    ],
    ['as CSV with a byte order mark', { type: CSV, body: '\uFEFFid,name\n1,Ada\n2,Bob\n' }, ROWS],
    [
      'as CSV with quoted line breaks, delimiters and quotes',
      { type: CSV, body: 'id,name\n1,"Ada, née\nKing"\n2,"5"" pipes"\n3,5" pipes\n' },
      [
        { id: '1', name: 'Ada, née\nKing' },
        { id: '2', name: '5" pipes' },
        { id: '3', name: '5" pipes' },
      ],
    ],
    [
      'as CSV of Windows, without a charset',
      { type: 'text/csv', body: Buffer.from('id;name\n1;Zürich\n', 'latin1') },
      [{ id: '1', name: 'Zürich' }],
    ],
    [
      'as CSV in UTF-16',
      {
        type: 'text/csv',
        body: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('id;name\n1;Zürich\n', 'utf16le')]),
      },
      [{ id: '1', name: 'Zürich' }],
    ],
    [
      'as CSV in a charset that is named',
      {
        type: 'text/csv; charset=iso-8859-2',
        body: Buffer.from([...Buffer.from('id,name\n1,'), 0xb3, 0x0a]),
      },
      [{ id: '1', name: 'ł' }],
    ],
    [
      'as CSV with columns of the same name or without one, and empty values',
      { type: CSV, body: 'id,mail,mail,\n1,,b@x.example,c\n' },
      [{ id: '1', mail: null, mail_2: 'b@x.example', column_4: 'c' }],
    ],
    ['as CSV without a row', { type: CSV, body: 'id,name\n' }, []],
    [
      'as NDJSON',
      { type: NDJSON, body: '{"id":1}\n{"id":2,"a":{"b":[1]}}\n' },
      [{ id: 1 }, { id: 2, a: { b: [1] } }],
    ],
    ['as NDJSON of one line', { type: NDJSON, body: '{"id":1}' }, [{ id: 1 }]],
    [
      'as NDJSON that is called JSON',
      { type: 'application/json', body: '{"id":1}\r\n\n{"id":2}' },
      [{ id: 1 }, { id: 2 }],
    ],
    ['as NDJSON without a type', { body: '{"id":1}\n{"id":2}\n' }, [{ id: 1 }, { id: 2 }]],
    [
      'as JSON over several lines',
      { type: 'application/json', body: '[\n{"id":1},\n{"id":2}\n]' },
      [{ id: 1 }, { id: 2 }],
    ],
  ])('%s is read', async (_, sent, expected) => {
    expect(await read(sent)).toEqual(expected)
  })

  it.each<readonly [string, Sent, RegExp]>([
    [
      'as CSV is cut in a quote',
      { type: CSV, body: 'id,name\n1,Ada\n2,"Bo' },
      /failed after 2 attempts: its CSV is cut or broken at line 3/,
    ],
    [
      'as CSV is cut before a value',
      { type: CSV, body: 'id,name\n1,Ada\n2' },
      /failed after 2 attempts: its CSV is cut or broken at line 3/,
    ],
    [
      'as CSV is cut in a value, and the connection does not tell',
      { type: CSV, body: 'id,name\n1,Ada\n2,Bo', isUnbounded: true },
      /failed after 2 attempts: its CSV ends in the middle of a line/,
    ],
    [
      'as NDJSON is cut',
      { type: NDJSON, body: '{"id":1}\n{"id":2,"na' },
      /failed after 2 attempts: its JSON is cut or broken/,
    ],
    [
      'as NDJSON has another line',
      { type: NDJSON, body: '{"id":1}\noops\n' },
      /a line of its NDJSON is no object/,
    ],
    [
      'is XML',
      { type: 'application/xml', body: '<?xml version="1.0"?><leads><lead/></leads>' },
      /answered 200 with XML \(application\/xml\), which is not read; JSON, NDJSON and CSV are$/,
    ],
    [
      'is XML without a type',
      { body: '<?xml version="1.0"?><leads/>' },
      /answered 200 with XML, which is not read/,
    ],
    [
      'is SOAP',
      { type: 'text/xml', body: '<soap:Envelope xmlns:soap="x"><soap:Body/></soap:Envelope>' },
      /answered 200 with SOAP \(text\/xml\), which is not read/,
    ],
    [
      'is a web page',
      { type: 'text/html', body: '<html><body>Sign in</body></html>' },
      /answered 200 but not with JSON: <html>/,
    ],
    [
      'is a message',
      { type: 'text/plain', body: 'Error, no tenant\nask, the admin, please' },
      /answered 200 but not with JSON: Error, no tenant/,
    ],
    [
      'is a web page that is called CSV',
      { type: CSV, body: '<!doctype html><p>a,b' },
      /answered 200 but not with JSON/,
    ],
  ])('that %s is refused', async (_, sent, message) => {
    await expect(read(sent)).rejects.toThrow(message)
  })
})
