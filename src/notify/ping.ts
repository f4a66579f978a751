/** The protocol of dead-man switches: https://healthchecks.io/docs/http_api/ and what speaks the same. */
import { createHash } from 'node:crypto'

/** `log` is kept by the far side without changing anything there. */
export type PingSignal = 'start' | 'success' | 'fail' | 'log'

const PATHS: Readonly<Record<PingSignal, string>> = {
  start: '/start',
  success: '',
  fail: '/fail',
  log: '/log',
}

/** @param runId by which the start and the end of a run are known to belong together */
export function pingUrl(base: string, signal: PingSignal, runId: string): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + PATHS[signal]
  url.searchParams.set('rid', uuidOf(runId))
  return url
}

/** The protocol wants a UUID: one of version 8 (RFC 9562, 5.8), the same for the same run. */
function uuidOf(runId: string): string {
  const hex = createHash('sha256').update(runId).digest('hex')
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) % 4]
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
