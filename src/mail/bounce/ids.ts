/** Finds the ids of messages of ours that a notification names. */
import { type Fields, type Mail, valuesOf } from './mime.ts'

const IDS_MAX = 20
/** The fields that name the address to which a notification came. */
const TO = /^(?:to|delivered-to|x-original-to|(?:x-)?envelope-to|x-rcpt-to)$/
const ANSWERED =
  /^(?:in-reply-to|references|original-envelope-id|x-ms-exchange-.*|(?:x-)?original-message-?id)$/
/** The ways in which a message is named: by its fields, and by the mail that unsubscribes. */
const NAMES: readonly RegExp[] = [
  /x-leadsheet-id:[>\s]{0,99}([0-9a-f]{40})(?![0-9a-f])/gi,
  /(?<![0-9a-z])([0-9a-f]{40})(?=@|&#64;|%40)/gi,
  /unsubscribe(?: |%20|\+)[\w-]{1,99}(?: |%20|\+)([0-9a-f]{40})(?![0-9a-f])/gi,
]
/** Matches the header of a returned message that names it. */
const NAMED = /^[>| \t]*(?:message-id|x-leadsheet-id):/im
/** A message of ours that replaces another one names that one too, but the notification is not about it. */
const OF_OTHERS = /^[> \t]*(?:in-reply-to|references):.*(?:\n[> \t]*<[^<>\n]*>[ \t]*$)*/gim

/**
 * Returns the ids, the surest first: that in the address to which the notification came, that of an unsubscribe,
 * those of the returned message, those in fields of the notification, and others in its text. A returned message of
 * somebody else may answer, quote or attach one of ours, so that only the first two count.
 * @param returnAddress the envelope sender of our messages, with `{id}` if it names them; null if it is not set
 * @param status the fields of reports about deliveries and of complaints
 */
export function idsIn(mail: Mail, returnAddress: string | null, status: readonly Fields[]): string[] {
  const told = [...status, mail.fields].flatMap((fields) => valuesOf(fields, ANSWERED))
  // Some texts have a returned message as it was encoded, with soft line ends.
  const texts = [...mail.parts, mail].map(({ text }) => text.replaceAll('=\n', '').replace(OF_OTHERS, ''))
  const headers = texts.flatMap((text) => text.split(/\n[>| \t]*\n/).find((block) => NAMED.test(block)) ?? [])
  const idsOf = (places: readonly string[]) => [
    ...idsInAddresses(places, returnAddress),
    ...NAMES.flatMap((name) => places.flatMap((text) => [...text.matchAll(name)].map(([, id = '']) => id))),
  ]
  const isOfAnother = headers.some((header) => idsOf([header]).length === 0)
  const found = [
    ...idsInAddresses(valuesOf(mail.fields, TO), returnAddress),
    ...[[mail.subject], ...(isOfAnother ? [] : [headers, told, texts])].flatMap(idsOf),
  ]
  return [...new Set(found.map((id) => id.toLowerCase()))].slice(0, IDS_MAX)
}

/** A server that forwards may write another domain behind the id (SRS), but it keeps what stands before it. */
function idsInAddresses(texts: readonly string[], returnAddress: string | null): string[] {
  const [before = '', after] = (returnAddress ?? '').toLowerCase().split('{id}')
  if (after === undefined) return []
  const isOurs = (text: string, at: number) =>
    before === '' ? text.startsWith(after, at + 40) : text.endsWith(before, at)
  return texts
    .map((text) => text.toLowerCase())
    .flatMap((text) => [...text.matchAll(/[0-9a-f]{40}/g)].filter(({ index }) => isOurs(text, index)))
    .map(([id]) => id)
}
