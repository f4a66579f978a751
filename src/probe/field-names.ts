/** The usual names of lead fields, and what their values look like. Data, no logic. */
import { fieldsWith, type LeadField } from '../domain/lead-fields.ts'

export interface FieldSign {
  readonly field: LeadField
  /** The names of the field, the best first. */
  readonly names: readonly string[]
  readonly looks: LeadField['type'] | 'few' | 'email' | 'domain' | 'currency'
}

export const LEAD_SIGNS: readonly FieldSign[] = fieldsWith('probe').map((field) => ({
  field,
  names: field.probe.split(/\s+/),
  looks: 'looks' in field ? field.looks : field.type,
}))

export const FIRST_NAMES = ['firstname', 'givenname', 'first', 'forename', 'fname'] as const
export const LAST_NAMES = ['lastname', 'familyname', 'surname', 'last', 'lname'] as const

/** The outcome that a status means, by its words. The first match counts. */
export const OUTCOME_WORDS = [
  {
    outcome: 'disqualified',
    words: /disqualif|unqualif|reject|invalid|spam|junk|not[ _-]?a[ _-]?fit|bad[ _-]?(fit|lead)|do[ _-]?not/i,
  },
  {
    outcome: 'lost',
    words:
      /lost|dead|churn|cancel|abandon|closed[ _-]?(lost|dead)|no[ _-]?(sale|deal)|declin|expired|failed|verloren|perdu/i,
  },
  {
    outcome: 'won',
    words: /won\b|^won|closed[ _-]?won|customer|converted|signed|success|paid|gewonnen|gagn/i,
  },
] as const

/** Words of stages, in the order of a funnel. */
export const FUNNEL_WORDS = [
  /^(new|open|raw|created|incoming|intake|fresh|cold|lead|subscriber|discovered|backlog|todo|todo)/i,
  /enrich|research|assign|pending|queued/i,
  /contact|attempt|outreach|reach|sent|warm/i,
  /repl|respon|engag|working|in[ _-]?progress|connected|nurtur|active/i,
  /qualif|mql|sql|interested|hot/i,
  /meeting|demo|call|appoint|discovery|present/i,
  /propos|quot|offer|evaluat|trial|opportunit/i,
  /negotiat|contract|verbal|commit|decision/i,
] as const
