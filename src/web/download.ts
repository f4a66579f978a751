/**
 * Files to be saved, never shown: whatever is in one, a browser takes it for nothing else than it is said to be
 * (nosniff) and runs nothing of it.
 */
import type { FastifyReply } from 'fastify'
import { MAIL_HEADERS } from './headers.ts'

export interface Download {
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
 * RFC 6266, 4: the name twice, for those who know only ASCII. Without what could end the field, lead out of a folder or
 * hide how the name ends.
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
