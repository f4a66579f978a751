/** The blocks that a report can have, in the order in which they stand where a report asks for all of them. */

export const BLOCK_NAMES = [
  'headline',
  'freshness',
  'attention',
  'kpis',
  'trend',
  'funnel',
  'changes',
  'top_leads',
  'stalled',
  'pipelines',
  'sources',
  'agents',
  'queries',
  'service_stats',
  'data_quality',
] as const
export type BlockName = (typeof BLOCK_NAMES)[number]
