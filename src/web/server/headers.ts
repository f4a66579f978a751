/** Response headers: what browsers must not do with pages, mails and downloads. */
import type { FastifyReply } from 'fastify'

const ALWAYS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
}

/** The address of a recipient's page is its key, so no referrer may carry it. */
export const PAGE_HEADERS = {
  ...ALWAYS,
  'Content-Security-Policy': policy([
    ...["default-src 'none'", "style-src 'self'", "form-action 'self'"],
    ...["frame-ancestors 'none'", "base-uri 'none'"],
  ]),
  'Referrer-Policy': 'no-referrer',
}

/** The referrer policy is same-origin: with no-referrer, browsers would send forms without the origin that we check. */
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

/** A mail as it was sent, which only a page of ours may frame: it runs nothing and loads nothing. */
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

/** A file that is saved, never shown. */
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
 * `Content-Disposition` by RFC 6266, section 4: the name in ASCII and in UTF-8, without what could end the header, lead
 * out of a folder or hide how the name ends.
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
