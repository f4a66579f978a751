/** Compares the messages that a mail server received with those recorded as sent. */
import type { Row } from '../../../src/store/tables/tables.ts'
import type { Arrival, Sink } from './sink.ts'

type Message = Row<'delivery'>

export function compareRows(
  rows: readonly Message[],
  { arrivals: all, refused }: Pick<Sink, 'arrivals' | 'refused'>,
) {
  const countEnds = (wanted: Arrival['end']): number => all.filter(({ end }) => end === wanted).length
  const arrivalsOf = Map.groupBy(all, ({ messageId }) => messageId)
  const known = new Set(rows.map(({ message_id }) => message_id))
  const found = rows.map((row) => ({ row, arrivals: arrivalsOf.get(row.message_id) ?? [] }))
  return {
    messages: rows.length,
    /** The number of messages that were ever unconfirmed. */
    unconfirmed: rows.filter((row) => row.unconfirmed_count > 0).length,
    ...refused,
    refused: countEnds('refused'),
    lostReplies: countEnds('lost'),
    /** Broken promises in words, with the recipient. All lists must be empty. */
    lost: found.filter(isLost).map(({ row }) => `${row.recipient}: ${row.state} and not there`),
    doubled: found
      .filter(({ row, arrivals }) => copiesOf(arrivals) > 1 + row.unconfirmed_count)
      .map(
        ({ row, arrivals }) =>
          `${row.recipient}: ${copiesOf(arrivals)} copies, ${row.unconfirmed_count} times unconfirmed`,
      ),
    /** Came more than once, and is shown as sent once. */
    unsaid: found
      .filter(({ row, arrivals }) => copiesOf(arrivals) > 1 && row.state === 'sent' && !isPerhapsTwice(row))
      .map(({ row }) => `${row.recipient}: shown as sent once`),
    /** The number of messages that came more than once. */
    twice: found.filter(({ arrivals }) => copiesOf(arrivals) > 1).length,
    altered: [
      ...found
        .filter(({ row, arrivals }) => !isOneMessage(row, arrivals))
        .map(({ row }) => `${row.recipient}: another message`),
      ...all.filter(({ messageId }) => !known.has(messageId)).map(({ to }) => `${to}: no message of ours`),
    ],
  }
}

interface Found {
  readonly row: Message
  readonly arrivals: readonly Arrival[]
}

/**
 * True if a message has not arrived and its state does not say so. Only `unconfirmed` says that it may be
 * missing.
 */
function isLost({ row, arrivals }: Found): boolean {
  return row.state !== 'unconfirmed' && copiesOf(arrivals) === 0
}

/** As the archive and the command show it. */
function isPerhapsTwice(row: Message): boolean {
  return row.unconfirmed_count > 0 && row.reply_code !== null
}

function copiesOf(arrivals: readonly Arrival[]): number {
  return arrivals.filter(({ end }) => end !== 'refused').length
}

/**
 * True if all attempts, refused ones included, had the same signed bytes and went to the recorded recipient.
 */
function isOneMessage(row: Message, arrivals: readonly Arrival[]): boolean {
  const kinds = new Set(arrivals.map(({ sha256 }) => sha256))
  return kinds.size <= 1 && arrivals.every((one) => one.to === row.recipient && one.isSigned)
}
