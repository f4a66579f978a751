/** Schemas of the `--json` output of the commands for operation and the database. */
import { z } from 'zod'
import { check, count, flag, instant, problem, text, texts } from './parts.ts'
import { issue, outage } from './reports.ts'

const alert = z.strictObject({
  id: count.describe('for `alerts ack`'),
  ...{ check: text, title: text, subject: text, state: z.enum(['pending', 'open', 'resolved']) },
  ...{ message: text, hint: text },
  ...{ since: instant.nullable(), until: instant.nullable() },
  ...{ announced_at: instant.nullable(), acknowledged_at: instant.nullable() },
})
const runState = z.enum(['pending', 'running', 'held', 'done', 'failed', 'skipped'])
const schedule = {
  schedule: text,
  when: text.describe('cron, or words such as every 15 minutes'),
  time_zone: text,
}
const lastRun = { due_at: instant, state: runState, message: text.nullable() }
const scheduledRun = z.strictObject({
  ...{ schedule: text, ...lastRun, noted_at: instant, not_before: instant.nullable(), attempts: count },
  ...{ approved_at: instant.nullable(), started_at: instant.nullable(), finished_at: instant.nullable() },
})
const content = {
  ...{ run_id: text.nullable(), leads_as_of: instant.nullable(), schema: text },
  rows: z.record(z.string(), count).describe('rows by table'),
}
const unknown = {
  unconfirmed_messages: count.describe('messages that were unsent when the backup was made'),
  schedules_from_now: texts,
}

export const OPERATION_RESULTS = {
  status: z.strictObject({
    data: z.strictObject({
      status: z.enum(['ok', 'warn', 'fail']),
      sentence: text,
      checks: z.array(check),
      freshness: z.array(z.strictObject({ resource: text, as_of: instant.nullable(), is_fresh: flag })),
      ...{ database: text, leads: count, quarantined_records: count, data_as_of: instant.nullable() },
      last_failure: z
        .strictObject({ at: instant, code: text.nullable(), message: text })
        .nullable()
        .describe('the last failed sync after the last complete sync'),
      alerts: z.array(alert),
      runs: z.array(
        z.strictObject({
          ...{ run_id: text, started_at: instant, finished_at: instant.nullable(), mode: text },
          outcome: text.nullable().describe('null while it runs'),
          leads_as_of: instant.nullable(),
          leads: z.strictObject({
            seen: count,
            inserted: count,
            updated: count,
            deleted: count,
            quarantined: count,
          }),
          ...{ requests: count, retries: count, duration_ms: count.nullable(), problems: z.array(problem) },
        }),
      ),
      schedules: z.array(
        z.strictObject({ ...schedule, last: z.strictObject(lastRun).nullable(), next: instant.nullable() }),
      ),
      scheduled_runs: z.array(scheduledRun),
      deliveries: z.record(z.string(), count).describe('messages by state'),
      servers_away: z.array(outage),
      issues: z.array(issue),
      events: z
        .strictObject({
          last_24_hours: z.record(z.string(), count).describe('events by outcome'),
          ...{ waiting: count, waiting_since: instant.nullable() },
          last: z.array(
            z.strictObject({
              ...{ id: text, type: text.nullable(), resource: text.nullable(), resource_id: text },
              ...{ occurred_at: text.nullable(), received_at: instant, done_at: instant.nullable() },
              ...{ outcome: text.nullable(), problem: text.nullable() },
            }),
          ),
        })
        .nullable()
        .describe('null without a webhook'),
      workers: z
        .array(
          z.strictObject({
            ...{ host: text, pid: count, since: instant, last_heartbeat: instant },
            running: texts,
          }),
        )
        .nullable()
        .describe('null if the store is a file; so is jobs'),
      jobs: z.array(z.strictObject({ queue: text, waiting: count, active: count, dead: count })).nullable(),
    }),
  }),
  health: z.strictObject({
    data: z.strictObject({ healthy: flag, found: text, last_heartbeat: instant.nullable() }),
  }),
  doctor: z.strictObject({
    data: z.strictObject({ status: z.enum(['ok', 'warn', 'fail']), checks: z.array(check) }),
  }),
  'alerts list': z.strictObject({ data: z.array(alert) }),
  'alerts ack': z.strictObject({ data: alert }),
  'alerts test': z.strictObject({
    data: z.array(
      z.strictObject({
        ...{ channel: z.enum(['mail', 'webhook', 'heartbeat']), to: text, taken: flag, response: text },
      }),
    ),
  }),
  'schedule list': z.strictObject({
    data: z.array(
      z.strictObject({
        ...{ ...schedule, catch_up: z.enum(['latest', 'all', 'none']) },
        last: z
          .strictObject({
            ...{
              ...lastRun,
              attempts: count,
              started_at: instant.nullable(),
              finished_at: instant.nullable(),
            },
            not_before: instant.nullable(),
          })
          .nullable(),
        next: z.array(
          z.strictObject({
            ...{ due_at: instant, local: text, covers: text.nullable() },
            note: text.nullable().describe('how a clock change affects this run'),
          }),
        ),
        missed: z.array(
          z.strictObject({
            ...{ from: instant, to: instant, scheduled_runs: count, state: runState },
            ...{ started_at: instant.nullable(), message: text.nullable() },
          }),
        ),
      }),
    ),
    meta: z.strictObject({ warnings: texts }),
  }),
  'db check': z.strictObject({ data: z.array(check) }),
  'db backup': z.strictObject({ data: z.strictObject({ file: text, ...content }) }),
  'db restore': z.union([
    z.strictObject({
      data: z.strictObject({
        ...{ file: text, database: text },
        before: text.nullable().describe('where the replaced database is now'),
        ...{ ...content, ...unknown },
      }),
    }),
    z.strictObject({ data: z.strictObject({ database: text, ...unknown }).describe('in PostgreSQL') }),
  ]),
  'db copy': z.strictObject({
    data: z.strictObject({
      from: text,
      to: text,
      installation: text,
      tables: z.array(z.strictObject({ table: text, rows: count, sha256: text })),
      duration_ms: count,
    }),
  }),
  'db prune': z.strictObject({
    data: z.array(z.strictObject({ table: text, before: instant, deleted: count })),
    meta: z.strictObject({ deleted: flag.describe('false without --yes') }),
  }),
}
