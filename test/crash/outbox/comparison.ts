/** Compares the messages that a mail server received with those recorded as sent. */
import { readFileSync } from 'node:fs'
import type { Arrival, Attempt } from './sink.ts'

export interface Comparison {
  readonly messages: number
  /** The number of messages in each state at the end. */
  readonly states: Readonly<Record<string, number>>
  /** The number of messages that were ever unconfirmed. */
  readonly unconfirmed: number
  /** The number of unconfirmed messages that arrived more than once, and of those that never arrived. */
  readonly arrivedTwice: number
  readonly arrivedNever: number
  /** The numbers of refusals and of other faults of the mail server. */
  readonly turnedAway: number
  readonly deferred: number
  readonly refused: number
  readonly lostReplies: number
  /** Broken promises in words, with the recipient. All lists must be empty. */
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  readonly altered: readonly string[]
}

/** The record of a message in the store. */
export interface Row {
  readonly recipient: string
  readonly message_id: string
  readonly state: string
  readonly unconfirmed_count: number
}

/** @param log of the mail server */
export function compareRows(rows: readonly Row[], log: string): Comparison {
  const attempts = readAttempts(log)
  const countEnds = (end: Attempt['end']): number => attempts.filter((one) => one.end === end).length
  const arrivals = attempts.filter((one) => one.end !== 'deferred' && one.end !== 'turned away')
  const arrivalsOf = Map.groupBy(arrivals, ({ messageId }) => messageId)
  const known = new Set(rows.map(({ message_id }) => message_id))
  const found = rows.map((row) => ({ row, arrivals: arrivalsOf.get(row.message_id) ?? [] }))
  const unconfirmed = found.filter(({ row }) => row.unconfirmed_count > 0)
  return {
    messages: rows.length,
    states: Object.fromEntries(
      Array.from(
        Map.groupBy(rows, ({ state }) => state),
        ([state, of]) => [state, of.length],
      ),
    ),
    unconfirmed: unconfirmed.length,
    arrivedTwice: unconfirmed.filter(({ arrivals }) => copiesOf(arrivals) > 1).length,
    arrivedNever: unconfirmed.filter(({ arrivals }) => copiesOf(arrivals) === 0).length,
    turnedAway: countEnds('turned away'),
    deferred: countEnds('deferred'),
    refused: countEnds('refused'),
    lostReplies: countEnds('lost'),
    lost: found.filter(isLost).map(({ row }) => `${row.recipient}: ${row.state} and not there`),
    doubled: found
      .filter(({ row, arrivals }) => copiesOf(arrivals) > 1 + row.unconfirmed_count)
      .map(
        ({ row, arrivals }) =>
          `${row.recipient}: ${copiesOf(arrivals)} copies, ${row.unconfirmed_count} times unconfirmed`,
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

/**
 * True if a message has not arrived and its state does not say so. Only `unconfirmed` says that it may be
 * missing.
 */
function isLost({ row, arrivals }: Found): boolean {
  return row.state !== 'unconfirmed' && copiesOf(arrivals) === 0
}

function copiesOf(arrivals: readonly Arrival[]): number {
  return arrivals.filter(({ end }) => end !== 'refused').length
}

/**
 * True if all attempts, refused ones included, had the same signed bytes and went to the recorded recipient.
 */
function isOneMessage(row: Row, arrivals: readonly Arrival[]): boolean {
  const kinds = new Set(arrivals.map(({ sha256 }) => sha256))
  return kinds.size <= 1 && arrivals.every((one) => one.to === row.recipient && one.isSigned)
}

function readAttempts(log: string): Attempt[] {
  const lines = readFileSync(log, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}
