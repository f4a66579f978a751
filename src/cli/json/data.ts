/** Schemas of the `--json` output of the commands for setup, leads, figures and analysts. */
import { z } from 'zod'
import { webhookAttemptSchema, webhookSchema, webhookWithSecretSchema } from '../../contract/webhook.ts'
import { LEAD_FIELDS } from '../../domain/lead-fields.ts'
import { check, count, flag, instant, leadCounts, period, problem, record, text, texts } from './parts.ts'

const attempt = z.strictObject(webhookAttemptSchema.shape)
const webhook = z.strictObject({ ...webhookSchema.shape, events: texts })
const webhookWithSecret = z.strictObject({ ...webhookWithSecretSchema.shape, events: texts })
const key = text.describe('the API key; it is not shown again')
const money = z.strictObject({ currency: text.nullable(), amount: z.number().nullable() })
const figureValue = z
  .union([
    z.number(),
    z.strictObject({ value: z.number().nullable(), part: count, whole: count }),
    z.array(money),
    z.array(z.strictObject({ status: text.nullable(), days: z.number().nullable() })),
  ])
  .nullable()
  .describe('a number, a share with its part and whole, money by currency, or days by status')
const known = z.strictObject({ known: count, of: count })
const figure = { name: text, title: text, unit: text, meaning: text }
const pastLead = {
  ...{ id: text, pipeline_id: text, status: text, score: z.number().nullable() },
  ...{ value_amount: z.number().nullable(), value_currency: text.nullable(), agent_id: text.nullable() },
}
const stateOfLead = z.strictObject({
  ...{ status: text, score: z.number().nullable() },
  ...{ value_amount: z.number().nullable(), value_currency: text.nullable() },
  valid_from: text,
  valid_to: text.nullable().describe('null for the present state'),
})
const activity = z.strictObject({
  ...{ at: text, type: text, from_status: text.nullable(), to_status: text.nullable() },
  ...{ agent_id: text.nullable(), summary: text.nullable() },
})
const leadColumns = Object.fromEntries(
  LEAD_FIELDS.map(({ column, type }) => [column, (type === 'number' ? z.number() : text).nullable()]),
)

export const DATA_RESULTS = {
  demo: z.strictObject({
    data: z.strictObject({
      database: text,
      snapshot: text.describe('the file that analysts open'),
      settings: text.describe('the settings file, for `--config`'),
      reports: z.array(z.strictObject({ subject: text, page: text.nullable(), mails: texts, is_new: flag })),
      leads: leadCounts,
    }),
  }),
  init: z.strictObject({
    data: z.strictObject({
      files: z.array(z.strictObject({ path: text, what: text })).describe('the files that were written'),
      checks: z.array(check),
      warnings: texts,
      next: z.array(z.strictObject({ command: text, what: text })),
    }),
  }),
  'config check': z.strictObject({
    data: z.strictObject({
      file: text.nullable().describe('the settings file; null if there is none'),
      settings: z.array(
        z.strictObject({
          setting: text,
          value: z.unknown().describe('secrets stay hidden; null if not set'),
          source: text.describe('where the value comes from'),
        }),
      ),
      warnings: texts,
    }),
  }),
  probe: z.strictObject({
    data: z.strictObject({
      url: text,
      complete: flag.describe('whether the profile can be used as it is'),
      findings: z.array(
        z.strictObject({
          ...{
            place: text,
            value: text,
            confidence: z.enum(['proved', 'likely', 'guessed']),
            evidence: text,
          },
        }),
      ),
      gaps: z.array(z.strictObject({ place: text, problem: text, remedy: text.nullable() })),
      tried: texts,
      profile: z.unknown().describe('the profile that was found; null if there is none'),
      requests: count,
    }),
  }),
  'service run': z.strictObject({
    data: z.strictObject({ url: text, key, scope: text, database: text }),
  }),
  sync: z.strictObject({
    data: z.strictObject({
      run_id: text,
      outcome: z
        .enum(['ok', 'ok_no_change', 'partial', 'deferred', 'failed'])
        .describe('partial: only a part was read; deferred: see not_before'),
      complete: flag,
      leads: leadCounts,
      scan: z
        .strictObject({
          ...{ mode: z.enum(['incremental', 'full']), started_at: instant },
          scan_result: z
            .enum(['complete', 'incomplete', 'unproven'])
            .describe('only a complete scan marks leads as deleted'),
          stop: text.describe('why the scan ended, as in the table sync_scan_result'),
          reported_total: count.nullable().describe('the last total that the upstream reported'),
          ...{ distinct: count, pages: count },
          passes: count.describe('how many times the list was read'),
          ...{ moved: count, cleaned: count, cut: count },
          held_back: count.describe(
            'missing leads that are not marked as deleted, because there are too many',
          ),
          warnings: texts,
          drift: z.array(
            z.strictObject({ change: z.enum(['new', 'vanished', 'retyped']), path: text, types: texts }),
          ),
        })
        .nullable()
        .describe(
          'how far the list of leads was read, and how far it can be trusted; null if leads were not read',
        ),
      ...{ stats: count, agents: count },
      details: z.strictObject({ read: count, not_found: count, failed: count }),
      ...{ pages: count, requests: count, retries: count, duration_ms: count, problems: z.array(problem) },
      not_before: instant.nullable().describe('the upstream accepts no request before this time'),
    }),
  }),
  'leads list': z.union([
    z.strictObject({
      data: z.array(
        z.strictObject({
          ...{ ...pastLead, valid_from: text.describe('when this state of the lead began') },
          ...{
            company_name: text.nullable(),
            company_country: text.nullable(),
            contact_name: text.nullable(),
          },
        }),
      ),
      meta: z.strictObject({
        ...{ as_of: instant, first_sync: instant.nullable(), total: count },
        unknown: count.describe('leads whose state at the time as_of is unknown'),
      }),
    }),
    z.strictObject({
      data: z.array(record).describe('with --remote: the records of the upstream'),
      meta: z.strictObject({
        page: z.strictObject({ next_cursor: text.nullable(), has_more: flag, total: count.nullable() }),
      }),
    }),
  ]),
  'leads show': z.union([
    z.strictObject({
      data: z.strictObject({
        ...leadColumns,
        ...{
          no: count,
          first_seen_at: instant,
          observed_at: instant,
          deleted_at: instant.nullable(),
          run_id: text,
        },
        enrichment: z.unknown().describe('null if the details of the lead were not read'),
        ...{ versions: z.array(stateOfLead), activity: z.array(activity) },
      }),
    }),
    z.strictObject({ data: record.describe('with --remote: the record of the upstream') }),
  ]),
  'figures show': z.strictObject({
    data: z.strictObject({
      period,
      prior: z.strictObject({ from: instant, to: instant }).describe('the period before'),
      data_as_of: instant,
      figures: z.array(
        z.strictObject({
          ...figure,
          values: z.array(
            z.strictObject({
              pipeline_id: text.nullable().describe('null for all pipelines'),
              ...{ current: figureValue, prior: figureValue },
              coverage: z
                .strictObject({ current: known.nullable(), prior: known.nullable() })
                .describe('how many of the leads that matter have a known history'),
            }),
          ),
        }),
      ),
    }),
  }),
  'figures explain': z.union([
    z.strictObject({ data: z.array(z.strictObject(figure)).describe('without a name: all figures') }),
    z.strictObject({
      data: z.strictObject({
        ...{ ...figure, period, value: figureValue },
        coverage: z
          .strictObject({ known: count.optional(), of: count.optional(), meaning: text, sql: text })
          .nullable(),
        sql: text.describe('computes the value on the snapshot'),
      }),
    }),
  ]),
  annotate: z.strictObject({
    data: z
      .array(
        z.strictObject({
          ...{ id: count, first_day: text.describe('local date'), last_day: text, text },
          pipeline_id: text.nullable().describe('null for all leads'),
          left_out: flag.describe('false if the days are only marked'),
          ...{ written_at: instant, written_by: text },
        }),
      )
      .describe('all annotations, the one that was written, or the one that was removed'),
  }),
  'pipelines create': z.strictObject({ data: record.describe('the pipeline as the upstream sends it') }),
  'pipelines stats': z.strictObject({ data: record.describe('the statistics as the upstream sends them') }),
  agents: z.strictObject({ data: z.array(record).describe('the agents as the upstream sends them') }),
  'webhooks register': z.union([
    z.strictObject({
      data: z.strictObject({
        ...{ id: text, url: text, events: texts, registered_at: instant },
        outcome: z.enum(['registered', 'replaced', 'already']),
        left_over: text.nullable().describe('an older webhook that could not be removed'),
        test: attempt.nullable(),
      }),
    }),
    z.strictObject({ data: webhookWithSecret.describe('with an address instead of --self') }),
  ]),
  'webhooks list': z.strictObject({ data: z.array(webhook.extend({ is_own: flag })) }),
  'webhooks remove': z.strictObject({
    data: z.strictObject({ id: text, outcome: z.enum(['removed', 'not_found', 'left']) }),
  }),
  snapshot: z.strictObject({
    data: z.strictObject({ file: text, bytes: count, duration_ms: count, leads_as_of: instant.nullable() }),
  }),
  schema: z.strictObject({
    data: z.array(
      z.strictObject({
        ...{ table_name: text, kind: text, meaning: text, rows: count.nullable() },
        columns: z.array(
          z.strictObject({
            ...{
              column_name: text,
              position: count,
              type: text.nullable(),
              unit: text.nullable(),
              meaning: text,
            },
            source_path: text.describe(
              'path in the record of the upstream; ours: kept by leadsheet; computed: derived',
            ),
            ...{ first_seen: text.nullable(), last_seen: text.nullable() },
            ...{ null_share: z.number().nullable(), examples: z.array(z.unknown()) },
          }),
        ),
      }),
    ),
  }),
  query: z.strictObject({
    data: z.array(z.record(z.string(), z.unknown())).describe('the rows, by the names of their columns'),
  }),
  export: z.strictObject({
    data: z.strictObject({
      ...{ table: text, format: text, file: text.optional(), rows: count, bytes: count },
      cut: count.describe('texts that were cut to the length of an Excel cell'),
      duration_ms: count,
    }),
  }),
}
