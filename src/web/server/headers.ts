/** Response headers that restrict what browsers may do with pages, mails and downloads. */
import type { FastifyReply } from 'fastify'

const ALWAYS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
}

/**
 * Headers of the recipients' pages. No referrer may be sent, because anyone who knows the address of such a
 * page can open it.
 */
export const PAGE_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'self'", "form-action 'self'"],
    ...["frame-ancestors 'none'", "base-uri 'none'"],
  ]),
  'Referrer-Policy': 'no-referrer',
}

/**
 * Headers of the dashboard. The referrer policy is `same-origin`. With `no-referrer`, browsers send forms
 * without the `Origin` header that the dashboard checks.
 */
export const DASHBOARD_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'self'", "script-src 'self'", "connect-src 'self'"],
    ...["img-src 'self'", "frame-src 'self'", "form-action 'self'", "frame-ancestors 'none'"],
    "base-uri 'none'",
  ]),
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
}

/**
 * Headers of a sent mail. Only a page of this site may show the mail in a frame, no script runs, and only
 * pictures of the mail itself load.
 */
export const MAIL_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'unsafe-inline'", "img-src 'self' data:", 'sandbox'],
    ...["form-action 'none'", "frame-ancestors 'self'", "base-uri 'none'"],
  ]),
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'SAMEORIGIN',
}

function policy(rules: readonly string[]): string {
  return rules.join('; ')
}

/** A file that browsers save and never show. */
interface Download {
  readonly name: string
  readonly contentType: string
  readonly content: Uint8Array
}

const NAME_LENGTH = 120

export function sendDownload(reply: FastifyReply, { name, contentType, content }: Download): FastifyReply {
  return reply
    .headers(MAIL_HEADERS)
    .header('Content-Disposition', dispositionOf(name))
    .type(contentType)
    .send(Buffer.from(content))
}

/**
 * Returns a `Content-Disposition` by RFC 6266, section 4, with the name in ASCII and in UTF-8. Characters are
 * removed that could end the header, leave the folder or hide the file type.
 */
export function dispositionOf(name: string): string {
  const safe = name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[/\\:*?"<>|%;]/g, '-')
    .replace(/^[.\s]+/, '')
    .slice(-NAME_LENGTH)
    .toWellFormed()
  const file = safe === '' ? 'file' : safe
  const ascii = file.replace(/[^\x20-\x7e]/g, '_')
  const encoded = encodeURIComponent(file).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
