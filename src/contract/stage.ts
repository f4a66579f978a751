/** The statuses of a lead in the reference service, in funnel order. */

export const STAGES = [
  { status: 'discovered', outcome: 'open' },
  { status: 'enriched', outcome: 'open' },
  { status: 'qualified', outcome: 'open' },
  { status: 'contacted', outcome: 'open' },
  { status: 'replied', outcome: 'open' },
  { status: 'meeting', outcome: 'open' },
  { status: 'won', outcome: 'won' },
  { status: 'lost', outcome: 'lost' },
  { status: 'disqualified', outcome: 'disqualified' },
] as const

export const LEAD_STATUSES = STAGES.map((stage) => stage.status)
export type LeadStatus = (typeof STAGES)[number]['status']

/** The stages of the funnel: the statuses on the way to won, won included. */
export const FUNNEL_STATUSES = [
  'discovered',
  'enriched',
  'qualified',
  'contacted',
  'replied',
  'meeting',
  'won',
] as const satisfies readonly LeadStatus[]
