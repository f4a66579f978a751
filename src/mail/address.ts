/**
 * Parses mail addresses strictly, because nodemailer would treat the text after a line break in an address as
 * a second recipient.
 */
import { domainToASCII } from 'node:url'
import { LeadsheetError } from '../errors.ts'

export interface Mailbox {
  /** The display name; empty if the text is only an address. */
  readonly name: string
  /** The address as `local@domain`, with the domain in ASCII. */
  readonly address: string
}

// RFC 5321, 4.5.3.1, allows 64 octets before the @ and 255 after it, but a path has at most 254 octets in
// all.
const LOCAL_PART = /^[^\s@<>(),;:"\\[\]\p{Cc}\p{Cf}]{1,64}$/u
const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/
const NAME = /^[^<>"\p{Cc}\p{Cf}]{0,200}$/u

/**
 * Parses `ana@example.com` or `Ana <ana@example.com>`.
 * @throws LeadsheetError config_invalid
 */
export function parseMailbox(text: string): Mailbox {
  const named = /^(.*)<([^<>]*)>$/s.exec(text)
  const name = named?.[1]?.trim() ?? ''
  const whole = named?.[2] ?? text
  const at = whole.lastIndexOf('@')
  const local = whole.slice(0, Math.max(at, 0))
  const domain = domainToASCII(whole.slice(at + 1))
  if (!LOCAL_PART.test(local) || !DOMAIN.test(domain) || !NAME.test(name)) {
    throw new LeadsheetError(
      'config_invalid',
      `${JSON.stringify(text.slice(0, 200))} is not a mail address`,
      {
        hint: 'Write it as ana@example.com or Ana <ana@example.com>.',
      },
    )
  }
  return { name, address: `${local}@${domain}` }
}
