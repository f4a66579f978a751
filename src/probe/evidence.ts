/** What the probe has found out, with its reasons. */
import type { Reply } from './ask.ts'

/** Proved by an answer that could have been otherwise; likely by several signs; guessed by a name alone. */
export type Confidence = 'proved' | 'likely' | 'guessed'

export interface Finding {
  /** `auth`, `paging.param`, `mapping.lead.score`: a place in the profile. */
  readonly place: string
  readonly value: string
  readonly confidence: Confidence
  /** The request and what came back, short. */
  readonly evidence: string
}

/** What could not be found out, and what to do about it. */
export interface Gap {
  readonly place: string
  readonly problem: string
  /** Lines of the profile to write by hand; null where nothing needs to be done. */
  readonly remedy: string | null
}

/** `GET /leads?limit=3 -> 200, 3 records` */
export function evidenceOf(reply: Reply, what = ''): string {
  return `${reply.request} -> ${reply.status}${what === '' ? '' : `, ${what}`}`
}
