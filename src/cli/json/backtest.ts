/** The schema of the `--json` output of `figures backtest`. */
import { z } from 'zod'
import { count, text, texts } from './parts.ts'

const scale = z.enum(['day', 'week', 'month'])
const periods = z.strictObject({ known: count, needed: count })
const shown = z
  .enum(['printed', 'withheld', 'learning'])
  .describe('whether reports print this; withheld: held too rarely; learning: too little is known')

export const backtest = z.strictObject({
  data: z.strictObject({
    from: text.nullable().describe('the first local day; null without a whole day of leads'),
    ...{ to: text.nullable().describe('the last local day'), time_zone: text },
    left_out: z
      .strictObject({ holidays: count, annotated: count })
      .describe('days that are not judged, and from which nothing is learned'),
    ranges: z
      .array(
        z.strictObject({
          ...{ figure: text, pipeline_id: text.nullable().describe('null for all pipelines'), each: scale },
          judged: count.describe('numbers for which the earlier numbers gave a usual range'),
          ...{ hits_95: count.describe('judged numbers that lay within the range of 95 %'), hits_80: count },
          claims: count.describe('judged numbers that a report would have called unusual'),
          ...{ claims_a_year: z.number().nullable(), shown, periods },
        }),
      )
      .describe('one entry for each figure and pipeline, by day, week and month'),
    win_rates: z
      .array(
        z.strictObject({
          pipeline_id: text.nullable().describe('null for all pipelines'),
          judged: count.describe('windows of 30 days with a usual range, counted back from the last day'),
          ...{ hits_95: count, hits_80: count },
          days: count
            .nullable()
            .describe('days whose report had a usual range of the last 30 days; null for a pipeline'),
          days_with_claims: count
            .nullable()
            .describe('days on which the report would have called the rate unusual; null for a pipeline'),
          ...{ claims_a_year: z.number().nullable(), shown, periods },
        }),
      )
      .describe('one entry for all leads and one for each pipeline; none if no lead was ever won or lost'),
    won_values: z
      .array(
        z.strictObject({
          ...{ currency: text.describe('ISO 4217'), each: scale },
          judged: count.describe('days or weeks with a usual range of the money that was won'),
          ...{ hits_95: count, hits_80: count, shown },
          days: z
            .strictObject({ known: count, needed: count })
            .describe('days with known numbers, and how many a range needs'),
        }),
      )
      .describe('all leads, one entry for each main currency and each day or week'),
    reports: z
      .array(
        z.strictObject({
          ...{ each: scale, judged: count, with_claims: count },
          with_claims_a_year: z.number().nullable(),
        }),
      )
      .describe('all figures judged together, as in a report'),
    month_ends: z.array(
      z.strictObject({
        figure: text,
        forecasts: count.describe('expected ends of months, each forecast after 5, 10, 15, 20 and 25 days'),
        hits_80: count.describe('expected ends whose range of 80 % held'),
        not_forecast: count.describe(
          'ends that were not forecast: too little was known, or they were withheld',
        ),
        shown,
        errors_at_day_10: z
          .strictObject({ months: count, forecast: z.number(), line: z.number(), trailing: z.number() })
          .nullable()
          .describe(
            'mean errors, as shares of the real numbers: forecast is ours, line a straight line, trailing the last 28 days',
          ),
      }),
    ),
    published: z
      .array(
        z.strictObject({
          figure: text,
          pipeline_ids: texts.nullable().describe('null for all pipelines'),
          currency: text.nullable().describe('ISO 4217 for money'),
          range_of: text.describe('`day`, `week`, `month`, `30_days`, `month_end` and so on'),
          meant: z.number().describe('the share of ranges that should hold, from 0 to 1'),
          ...{ ranges: count.describe('ranges that reports published'), hits: count },
          windows: count.describe('different time windows that the ranges are of'),
          is_withheld: z.boolean().describe('whether the ranges held so rarely that reports publish no more'),
        }),
      )
      .describe(
        'the record of the ranges that reports published: the last year for days, three years for others',
      ),
    later_winners: z
      .array(
        z.strictObject({
          status: text.nullable().describe('the stage; null for the age of lost leads'),
          share_beyond: z
            .number()
            .describe('the share of later winners that should exceed the threshold, from 0 to 1'),
          dates: count.describe('dates with a threshold and with winners in the next 30 days'),
          came_true: count.describe(
            'dates on which the number of winners beyond the threshold was in its interval of 90 %',
          ),
          shown,
        }),
      )
      .describe('tests of the stall thresholds of past dates, every 30 days for three years'),
  }),
})
