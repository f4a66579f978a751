/** A DNS server on 127.0.0.1 with a table of records. It answers over UDP alone, however long an answer is. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

const TYPES = { CNAME: 5, TXT: 16 } as const
const CODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 } as const
const FOUND = 0x8180

type Type = keyof typeof TYPES

/** A name of the table with one record, such as `TXT "v=spf1 " "-all"` or `AAAA` with all 32 digits, or how the server fails: `SERVFAIL`, `SILENT`. */
export interface DnsRecord {
  readonly name: string
  readonly type: Type | 'SERVFAIL' | 'SILENT'
  readonly value: string
}

/** Reads `acme.test TXT "v=spf1 -all"`. */
export function parseRecord(line: string): DnsRecord {
  const [, name = '', type = '', value = ''] = /^(\S+) ([A-Z]+) ?(.*)$/.exec(line) ?? []
  return { name: name.toLowerCase(), type: type as DnsRecord['type'], value }
}

export async function openDnsServer(records: () => readonly DnsRecord[]) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query)
    asked.push(`${name} ${type}`)
    const answer = answerTo(records(), query.subarray(0, end), name, type)
    if (answer !== null) socket.send(answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    /** The server as node:dns names it. */
    server: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    /** All questions so far, such as `acme.test TXT`. */
    asked,
    [Symbol.asyncDispose]: () => closed(socket),
  }
}

async function closed(socket: Socket): Promise<void> {
  const gone = once(socket, 'close')
  socket.close()
  await gone
}

const HEAD_BYTES = 12

function readQuestion(query: Buffer) {
  const labels: string[] = []
  let at = HEAD_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const number = query.readUInt16BE(at + 1)
  const type = Object.entries(TYPES).find(([, each]) => each === number)?.[0] ?? String(number)
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 }
}

/** @param question the query up to the end of its question */
function answerTo(all: readonly DnsRecord[], question: Buffer, name: string, type: string): Buffer | null {
  const found: DnsRecord[] = []
  let at = name
  let records = all.filter((each) => each.name === at)
  for (let alias = aliasIn(records); alias !== undefined && found.length < 5; alias = aliasIn(records)) {
    found.push(alias)
    at = alias.value
    records = all.filter((each) => each.name === at)
  }
  if (records.some((each) => each.type === 'SILENT')) return null
  const fails = records.some((each) => each.type === 'SERVFAIL')
  if (!fails) found.push(...records.filter((each) => each.type === type))
  const code = fails ? 'SERVFAIL' : records.length === 0 ? 'NXDOMAIN' : 'NOERROR'
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt16BE(question.readUInt16BE(0), 0)
  head.writeUInt16BE(FOUND | CODES[code], 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(found.length, 6)
  return Buffer.concat([head, question.subarray(HEAD_BYTES), ...found.map(encodeRecord)])
}

function aliasIn(records: readonly DnsRecord[]): DnsRecord | undefined {
  return records.find((each) => each.type === 'CNAME')
}

function encodeRecord({ name, type, value }: DnsRecord): Buffer {
  const data = encodeValue(type, value)
  const head = Buffer.alloc(10)
  head.writeUInt16BE(TYPES[type as Type], 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt32BE(60, 4)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(name), head, data])
}

function encodeValue(type: DnsRecord['type'], value: string): Buffer {
  if (type === 'CNAME') return encodeName(value)
  const pieces = [...value.matchAll(/"([^"]*)"/g)].map(([, piece = '']) => Buffer.from(piece))
  return Buffer.concat(pieces.flatMap((piece) => [Buffer.from([piece.length]), piece]))
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)])
  return Buffer.concat([...labels, Buffer.from([0])])
}
