/** The schema of the `--json` output of `figures backtest`. */
import { z } from 'zod'
import { count, text, texts } from './parts.ts'

const scale = z.enum(['day', 'week', 'month'])
const periods = z.strictObject({ known: count, needed: count })
const shown = z
  .enum(['printed', 'withheld', 'learning'])
  .describe('whether reports print it; learning: too little is known')

export const backtest = z.strictObject({
  data: z.strictObject({
    from: text.nullable().describe('the first local day; null without a whole day of leads'),
    ...{ to: text.nullable().describe('the last local day'), time_zone: text },
    left_out: z
      .strictObject({ holidays: count, annotated: count })
      .describe('days of which nothing is learned and that are not judged'),
    ranges: z
      .array(
        z.strictObject({
          ...{ figure: text, pipeline_id: text.nullable().describe('null for all pipelines'), each: scale },
          judged: count.describe('numbers that had a usual range by the numbers before them'),
          ...{ held_95: count.describe('those within the range of 95 %'), held_80: count },
          claims: count.describe('those that a report would have called unusual'),
          ...{ claims_a_year: z.number().nullable(), shown, periods },
        }),
      )
      .describe('one for each series and each day, week or month'),
    win_rates: z
      .array(
        z.strictObject({
          pipeline_id: text.nullable().describe('null for all pipelines'),
          judged: count.describe('stretches of 30 days with a usual range, counted back from the last day'),
          ...{ held_95: count, held_80: count },
          days: count
            .nullable()
            .describe('days whose report had a usual range of the last 30 days; null for a pipeline'),
          days_with_claims: count
            .nullable()
            .describe('those on which it would have called the rate unusual; null for a pipeline'),
          ...{ claims_a_year: z.number().nullable(), shown, periods },
        }),
      )
      .describe('of all leads and of each pipeline; none if no lead was ever won or lost'),
    won_values: z
      .array(
        z.strictObject({
          ...{ currency: text.describe('ISO 4217'), each: scale },
          judged: count.describe('days or weeks with a usual range of the money that was won'),
          ...{ held_95: count, held_80: count, shown },
          days: z.strictObject({ known: count, needed: count }).describe('days that a range rests on'),
        }),
      )
      .describe('of all leads, in each main currency'),
    reports: z
      .array(
        z.strictObject({
          ...{ each: scale, judged: count, with_claims: count },
          with_claims_a_year: z.number().nullable(),
        }),
      )
      .describe('all series judged together, as a report does'),
    month_ends: z.array(
      z.strictObject({
        figure: text,
        told: count.describe('expected ends, told after 5, 10, 15, 20 and 25 days'),
        held_80: count.describe('those whose range of 80 % held'),
        untold: count.describe('ends for which too little was known, or that were withheld'),
        shown,
        errors_at_day_10: z
          .strictObject({ months: count, told: z.number(), line: z.number(), trailing: z.number() })
          .nullable()
          .describe('mean errors as shares of the months: ours, of a straight line, of the last 28 days'),
      }),
    ),
    told: z
      .array(
        z.strictObject({
          figure: text,
          pipeline_ids: texts.nullable().describe('null for all pipelines'),
          currency: text.nullable().describe('ISO 4217 for money'),
          range_of: text.describe('`day`, `week`, `month`, `30_days`, `month_end` and so on'),
          meant: z.number().describe('the share that should hold'),
          ...{ told: count.describe('ranges that reports told'), held: count },
          stretches: count.describe('stretches of time that they are of'),
          is_withheld: z.boolean().describe('whether they held so rarely that no more are told'),
        }),
      )
      .describe('the record as it was told then, of the last year for days and of three years for others'),
    later_winners: z
      .array(
        z.strictObject({
          status: text.nullable().describe('the stage; null for the age of lost leads'),
          share_beyond: z.number().describe('the share of later winners that exceeds the threshold'),
          dates: count.describe('dates with a threshold and with winners in the next 30 days'),
          came_true: count.describe('those whose number of winners beyond it lies in its interval of 90 %'),
          shown,
        }),
      )
      .describe('the thresholds of past dates, every 30 days for three years'),
  }),
})
