/** The relations that figures are counted from, by name. */

/** In the order in which one may read another. */
export const RELATION_NAMES = [
  'chosen',
  'chosen_count',
  'lead_now',
  'level_now',
  'state',
  'early',
  'early_once',
  'gone_then',
  'lead_then',
  'level',
  'value_unsure',
  'changed',
  'reopened',
  'closed_now',
  'closed_once',
  'closed',
  'win',
  'entered',
  'in_question',
  'entry',
  'ended',
  'open_now',
  'idle',
  'idle_then',
  'reach',
  'span',
  'arrival',
  'news',
  'news_move',
  'standing',
  'change',
] as const
export type RelationName = (typeof RELATION_NAMES)[number]

export interface Relation {
  readonly reads: readonly RelationName[]
  /** To be computed first, since SQLite would look up a row for each candidate before it tells them apart. */
  readonly isMaterialized?: true
  /** It opens with a comment that says what it holds, and names no parameter there. */
  readonly sql: string
}
