/**
 * Reads mail addresses, with a display name or without. The settings and the mails use the same rule, so that
 * no accepted address is refused when a mail is made. The rule is stricter than RFC 5322, because nodemailer
 * would treat the text after a line break as a second recipient.
 */
import { domainToASCII } from 'node:url'

export interface Mailbox {
  /** The display name without quotes; empty if the text is only an address. */
  readonly name: string
  /** The address as `local@domain`, with the domain in ASCII. */
  readonly address: string
}

// RFC 5321, 4.1.2, wants texts joined by single dots on both sides of the @. 4.5.3.1 allows 64 octets before the @
// and 255 after it, but only 254 in a whole address. A domain of numbers alone is an address of the network.
const LOCAL_PART = /^(?=.{1,64}$)[^\s@<>(),;:"\\[\].]+(?:\.[^\s@<>(),;:"\\[\].]+)*$/u
const DOMAIN =
  /^(?=.{1,253}$)(?![\d.]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/
const NAME_MAX = 200

// Match characters that nobody sees. A name may have the joiners of emoji and of several scripts, and spaces
// of any width.
const UNSEEN = /\u034f|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}/u
const UNSEEN_IN_NAME =
  /\u034f|(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/u

/**
 * Reads `ana@example.com`, `Ana <ana@example.com>` or `"Lopes, Ana" <ana@example.com>`.
 * @returns the mailbox with its address as `written`, or the reason why the text is none. The reason is empty
 *   if the text is just different.
 */
export function readMailbox(
  text: string,
): (Mailbox & { readonly written: string }) | { readonly fault: string } {
  const [, quoted, plain = '', angled] = /^(?:"((?:[^"\\]|\\.)*)" ?|([^"<>]*))<([^<>]*)>$/s.exec(text) ?? []
  const written = angled ?? text
  const fault = unseenIn(text, text.length - written.length - (angled === undefined ? 0 : 1))
  if (fault !== null) return { fault }
  const name = (quoted?.replace(/\\(.)/gs, '$1') ?? plain).trim()
  if (name.length > NAME_MAX) return { fault: `more than ${NAME_MAX} characters in the name` }
  const at = written.lastIndexOf('@')
  const local = written.slice(0, Math.max(at, 0))
  const domain = domainToASCII(written.slice(at + 1))
  return LOCAL_PART.test(local) && DOMAIN.test(domain)
    ? { name, written, address: `${local}@${domain}` }
    : { fault: '' }
}

/** Returns the reason why a display name cannot stand in a mail; null if it can. */
export function nameFault(name: string): string | null {
  return unseenIn(name, name.length)
}

/** Names the first character that nobody sees, or null. The display name ends at `nameEnd`. */
function unseenIn(text: string, nameEnd: number): string | null {
  const inName = UNSEEN_IN_NAME.exec(text.slice(0, nameEnd))?.index
  const inAddress = UNSEEN.exec(text.slice(nameEnd))?.index
  const index = inName ?? (inAddress === undefined ? undefined : nameEnd + inAddress)
  if (index === undefined) return null
  const code = text.codePointAt(index) ?? 0
  const number = code.toString(16).toUpperCase().padStart(4, '0')
  const kind = code < 0xa0 ? 'a control character' : 'an invisible character'
  return `U+${number} ${kind} at position ${[...text.slice(0, index)].length + 1}`
}
