/** Lists that come as CSV or NDJSON, which are read by the same rules as JSON, and XML, which is refused. */
import { expect, it } from 'vitest'
import { openHttpServer } from '../../support/network/http-server.ts'
import { openTestSource, profileWith } from '../../support/source/test-source.ts'

type Sent = readonly [what: string, type: string | null, body: string | Buffer, connection?: 'does not tell']

const CSV = 'text/csv; charset=utf-8'
const JSON_TYPE = 'application/json'
const NDJSON = 'application/x-ndjson'
const PLAIN = 'text/plain'
const FILE = 'application/octet-stream'
const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('id;name\n1;Zürich\n', 'utf16le')])
const latin2 = Buffer.from([...Buffer.from('id,name\n1,'), 0xb3, 0x0a])

/** Answers of a list by what they are. */
const SENT: readonly Sent[] = [
  ['CSV', CSV, 'id,name\n1,Ada\n2,Bob\n'],
  ['CSV without a last line break', CSV, 'id,name\r\n1,Ada\r\n2,Bob'],
  ['CSV with semicolons', 'application/csv', 'id;name\n1;Ada\n2;Bob\n'],
  ['values between tabs', 'text/tab-separated-values', 'id\tname\n1\tAda\n2\tBob\n'],
  ['CSV that is called plain text', PLAIN, '"id","name"\n1,Ada\n2,Bob\n'],
  ['CSV that is called a file', FILE, 'id|name\n1|Ada\n2|Bob\n'],
  ['CSV with a byte order mark', CSV, '\uFEFFid,name\n1,Ada\n2,Bob\n'],
  [
    'CSV with quoted breaks, delimiters, quotes',
    CSV,
    'id,name\n1,"Ada, née\nKing"\n2,"5"" pipes"\n3,5" pipes\n',
  ],
  ['CSV of Windows, without a charset', 'text/csv', Buffer.from('id;name\n1;Zürich\n', 'latin1')],
  ['CSV in UTF-16', 'text/csv', utf16],
  ['CSV in a charset that is named', 'text/csv; charset=iso-8859-2', latin2],
  ['CSV with columns of one name or none, and empty values', CSV, 'id,mail,mail,\n1,,b@x.example,c\n'],
  ['CSV without a row', CSV, 'id,name\n'],
  ['NDJSON', NDJSON, '{"id":1}\n{"id":2,"a":{"b":[1]}}\n'],
  ['NDJSON of one line', NDJSON, '{"id":1}'],
  ['NDJSON that is called JSON', JSON_TYPE, '{"id":1}\r\n\n{"id":2}'],
  ['NDJSON without a type', null, '{"id":1}\n{"id":2}\n'],
  ['JSON over several lines', JSON_TYPE, '[\n{"id":1},\n{"id":2}\n]'],
  ['CSV that is cut in a quote', CSV, 'id,name\n1,Ada\n2,"Bo'],
  ['CSV that is cut before a value', CSV, 'id,name\n1,Ada\n2'],
  ['CSV that is cut in a value', CSV, 'id,name\n1,Ada\n2,Bo', 'does not tell'],
  ['NDJSON that is cut', NDJSON, '{"id":1}\n{"id":2,"na'],
  ['NDJSON with another line', NDJSON, '{"id":1}\noops\n'],
  ['XML', 'application/xml', '<?xml version="1.0"?><leads><lead/></leads>'],
  ['XML without a type', null, '<?xml version="1.0"?><leads/>'],
  ['SOAP', 'text/xml', '<soap:Envelope xmlns:soap="x"><soap:Body/></soap:Envelope>'],
  ['a web page', 'text/html', '<html><body>Sign in</body></html>'],
  ['a message', PLAIN, 'Error, no tenant\nask, the admin, please'],
  ['a web page that is called CSV', CSV, '<!doctype html><p>a,b'],
]

/** Reads the list by a source that asks three times, and tells its records, or why there are none. */
async function tell([what, type, body, connection]: Sent): Promise<string> {
  await using server = await openHttpServer((request, response) => {
    if (connection === undefined)
      return void response.writeHead(200, type ? { 'content-type': type } : {}).end(body)
    // The connection ends before the whole body, without a sign that something is missing.
    request.socket.write(`HTTP/1.0 200 OK\r\ncontent-type: ${type}\r\n\r\n${body}`)
    request.socket.end()
  })
  const source = openTestSource({ baseUrl: server.url, profile: profileWith({}) })
  const lines = await source.listLeads({}, null, 10).then(
    ({ records }) => records.map(({ value }) => JSON.stringify(value)),
    (thrown: unknown) => [String(thrown).replace(/127[.\d:]+/, 'HOST')],
  )
  return [`${what} as ${type}`, ...lines].join('\n  ')
}

it('a list as CSV or NDJSON is read where it is whole, and all else is refused with what it is', async () => {
  const told = await Promise.all(SENT.map(tell))
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/rows.txt')
})
