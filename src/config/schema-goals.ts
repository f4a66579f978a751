/** The schema of goals: the numbers that figures are meant to reach in a month, quarter or fiscal year. */
import { z } from 'zod'
import { COUNTED_FIGURES, GOAL_PERIODS } from '../domain/insight.ts'
import { group, listOf, named, pattern, pipelineIds, text, wholeNumber } from './validators.ts'

const goal = named(
  group({
    name: text('a name').meta({
      description: 'Name of the goal in reports.',
      examples: ['Value won in the month'],
    }),
    figure: z.enum(COUNTED_FIGURES, { error: `one of ${COUNTED_FIGURES.join(', ')}` }).meta({
      description: 'The figure that counts: new_leads, won, lost or won_value.',
      examples: ['won_value'],
    }),
    period: z
      .enum(GOAL_PERIODS, { error: `one of ${GOAL_PERIODS.join(', ')}` })
      .default('month')
      .meta({ description: 'The span that the goal is for: month, quarter or fiscal_year.' }),
    target: z
      .number({ error: 'a number above 0' })
      .positive({ error: 'a number above 0' })
      .meta({
        description: 'The number to reach; for won_value in whole units of the currency.',
        examples: [500_000],
      }),
    currency: pattern(/^[A-Z]{3}$/, 'a currency by ISO 4217, such as EUR')
      .optional()
      .meta({ description: 'Currency of a goal of won_value.', examples: ['EUR'] }),
    pipelines: pipelineIds
      .optional()
      .meta({ description: 'Only leads of these pipelines; all if absent.', examples: [['eu-mid-market']] }),
    owner: text('a name')
      .optional()
      .meta({ description: 'Who the goal belongs to, shown beside it.', examples: ['Ana'] }),
  }).refine(({ figure, currency }) => (figure === 'won_value') === (currency !== undefined), {
    error: 'a currency for won_value, and none for other figures',
    path: ['currency'],
  }),
)

/** The settings of the top level that are about goals. */
export const goalSettings = {
  goals: listOf(goal, 'a list of goals', 'name').default([]).meta({
    description: 'What figures are meant to reach. Reports say how far each goal is and where it may end.',
  }),
  fiscal_year_starts: wholeNumber(1, 12).default(1).meta({
    description: 'Month in which the fiscal year begins, for goals of a quarter or a fiscal year.',
  }),
}
