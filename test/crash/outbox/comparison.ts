/** What a sink says it has got beside what the ledger says was sent, letter by letter. */
import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Arrival, Attempt } from './sink.ts'

export interface Comparison {
  readonly messages: number
  /** In the ledger at the end, by state. */
  readonly states: Readonly<Record<string, number>>
  /** Messages that were unconfirmed at any time. */
  readonly doubted: number
  /** Of these, how many had arrived more than once, and how many not at all. */
  readonly doubtedTwice: number
  readonly doubtedNever: number
  /** What the sink did beside taking messages, as often. */
  readonly turnedAway: number
  readonly putOff: number
  readonly refused: number
  readonly lostReplies: number
  /** Broken promises, in words with the recipient: none of them may be. */
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  readonly altered: readonly string[]
}

/** What the ledger says of a message. */
export interface Row {
  readonly recipient: string
  readonly message_id: string
  readonly state: string
  readonly doubts: number
}

/** @param log of the sink */
export function compare(file: string, log: string): Comparison {
  const database = new Database(file, { readonly: true })
  const rows = database.prepare<[], Row>('SELECT * FROM delivery ORDER BY recipient').all()
  database.close()
  return compareRows(rows, log)
}

/** @param log of the sink */
export function compareRows(rows: readonly Row[], log: string): Comparison {
  const attempts = readAttempts(log)
  const countEnds = (end: Attempt['end']): number => attempts.filter((one) => one.end === end).length
  const arrivals = attempts.filter((one) => one.end !== 'deferred' && one.end !== 'turned away')
  const arrivalsOf = Map.groupBy(arrivals, ({ messageId }) => messageId)
  const known = new Set(rows.map(({ message_id }) => message_id))
  const found = rows.map((row) => ({ row, arrivals: arrivalsOf.get(row.message_id) ?? [] }))
  const doubted = found.filter(({ row }) => row.doubts > 0)
  return {
    messages: rows.length,
    states: Object.fromEntries(
      Array.from(
        Map.groupBy(rows, ({ state }) => state),
        ([state, of]) => [state, of.length],
      ),
    ),
    doubted: doubted.length,
    doubtedTwice: doubted.filter(({ arrivals }) => copiesOf(arrivals) > 1).length,
    doubtedNever: doubted.filter(({ arrivals }) => copiesOf(arrivals) === 0).length,
    turnedAway: countEnds('turned away'),
    putOff: countEnds('deferred'),
    refused: countEnds('refused'),
    lostReplies: countEnds('lost'),
    lost: found.filter(isLost).map(({ row }) => `${row.recipient}: ${row.state} and not there`),
    doubled: found
      .filter(({ row, arrivals }) => copiesOf(arrivals) > 1 + row.doubts)
      .map(
        ({ row, arrivals }) =>
          `${row.recipient}: ${copiesOf(arrivals)} copies, ${row.doubts} times unconfirmed`,
      ),
    altered: [
      ...found
        .filter(({ row, arrivals }) => !isOneMessage(row, arrivals))
        .map(({ row }) => `${row.recipient}: another message`),
      ...arrivals
        .filter(({ messageId }) => !known.has(messageId))
        .map(({ to }) => `${to}: no message of ours`),
    ],
  }
}

interface Found {
  readonly row: Row
  readonly arrivals: readonly Arrival[]
}

/** Unconfirmed says that it may not be there; anything else that is not there was lost without a word. */
function isLost({ row, arrivals }: Found): boolean {
  return row.state !== 'unconfirmed' && copiesOf(arrivals) === 0
}

function copiesOf(arrivals: readonly Arrival[]): number {
  return arrivals.filter(({ end }) => end !== 'refused').length
}

/** Each attempt the same bytes, signed and to the recipient of the ledger; also those that were refused. */
function isOneMessage(row: Row, arrivals: readonly Arrival[]): boolean {
  const kinds = new Set(arrivals.map(({ sha256 }) => sha256))
  return kinds.size <= 1 && arrivals.every((one) => one.to === row.recipient && one.isSigned)
}

function readAttempts(log: string): Attempt[] {
  const lines = readFileSync(log, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}
