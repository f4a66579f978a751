/** Schemas of the `--json` output of the commands for reports, operation and the database. */
import { z } from 'zod'
import { check, count, flag, instant, messageState, period, problem, text, texts } from './parts.ts'

const response = text.nullable().describe('what the mail server said')
const failed = z.array(z.strictObject({ block: text, query: text.nullable(), message: text }))
const leftOut = z.array(z.strictObject({ recipient: text, why: text }))
const made = z.strictObject({
  data: z.strictObject({
    report: text,
    issues: z.array(
      z.strictObject({
        period,
        leads: text.nullable().describe('the filter in words; null for all leads'),
        subject: text,
        page: text.nullable().describe('its page in the archive'),
        not_sent: text.nullable().describe('why it was not sent'),
        failed: failed.describe('blocks that could not be made'),
      }),
    ),
    preview: text.nullable().describe('the file of --output'),
    deliveries: z.array(
      z.strictObject({
        ...{ recipient: text, state: messageState, response },
        is_new: flag.describe('false if the message was sent before'),
      }),
    ),
    left_out: leftOut,
  }),
})
const issue = z.strictObject({
  ...{ report: text, period },
  filter: z.strictObject({ pipeline_ids: texts.nullable(), conditions: z.array(z.unknown()) }).nullable(),
  ...{ subject: text, made_at: instant },
  made_by: text.nullable().describe('the version of leadsheet'),
  not_sent: text.nullable().describe('why it was not sent'),
  messages: z.strictObject({
    total: count,
    sent: count,
    failed: count,
    unconfirmed: count,
    withdrawn: count,
  }),
})
const keptMessage = { recipient: text, message_id: text, state: messageState, state_at: instant, response }
const preference = {
  state: z.enum(['active', 'paused', 'unsubscribed']),
  cadence: z.enum(['as_scheduled', 'weekly']),
}
const changedBy = z.enum(['recipient', 'operator', 'leadsheet'])
const changed = z.strictObject({
  data: z.array(
    z.strictObject({
      ...{ address: text, report: text, ...preference, changed_at: instant, changed_by: changedBy },
      ...{ reason: text.nullable(), mails_withdrawn: count },
    }),
  ),
})
const again = z.array(z.strictObject({ recipient: text, state: messageState, period }))
const outage = z.strictObject({
  ...{ server: text, kind: z.enum(['transient', 'configuration']), since: instant, failures: count },
  ...{ next_attempt_at: instant, reply_code: count.nullable(), response: text },
})
const alert = z.strictObject({
  id: count.describe('for `alerts ack`'),
  ...{ check: text, title: text, subject: text, state: z.enum(['pending', 'open', 'resolved']) },
  ...{ message: text, hint: text },
  ...{ since: instant.nullable(), until: instant.nullable() },
  ...{ announced_at: instant.nullable(), acknowledged_at: instant.nullable() },
})
const runState = z.enum(['due', 'running', 'held', 'done', 'failed', 'skipped'])
const schedule = { schedule: text, when: text.describe('cron or words'), time_zone: text }
const lastRun = { due_at: instant, state: runState, message: text.nullable() }
const scheduledRun = z.strictObject({
  ...{ schedule: text, ...lastRun, noted_at: instant, not_before: instant.nullable(), attempts: count },
  ...{ released_at: instant.nullable(), started_at: instant.nullable(), finished_at: instant.nullable() },
})
const content = {
  ...{ run_id: text.nullable(), leads_as_of: instant.nullable(), schema: text },
  rows: z.record(z.string(), count).describe('rows by table'),
}
const unknown = {
  unconfirmed_messages: count.describe('messages that were unsent when the backup was made'),
  schedules_from_now: texts,
}
const copied = { from: text, to: text, installation: text, target: z.enum(['empty', 'begun', 'whole']) }

export const OPERATION_RESULTS = {
  'report list': z.strictObject({
    data: z.array(
      z.strictObject({ report: text, when: text, time_zone: text, template: text, recipients: count }),
    ),
  }),
  'report preview': made,
  'report test': made,
  'report send': made,
  'report approve': z.strictObject({
    data: z.strictObject({ schedule: text, due_at: instant, message: text.nullable() }),
  }),
  'report resend': z.strictObject({
    data: z.strictObject({
      sent: flag.describe('false if nothing was sent: --yes is missing, or there is no such message'),
      ...{ same_mail: again, new_mail: again, left_out: leftOut },
      deliveries: z.array(z.strictObject({ recipient: text, state: messageState, response })),
    }),
  }),
  'report history': z.strictObject({ data: z.array(issue) }),
  'report show': z.union([
    z.strictObject({
      data: z.strictObject({ report: text, period, messages: z.array(z.strictObject(keptMessage)) }),
    }),
    z.strictObject({
      data: z
        .strictObject({
          ...{ report: text, period, ...keptMessage, subject: text, files: texts },
          output: text.nullable(),
        })
        .describe('with --for or --output: one message'),
    }),
  ]),
  'report compare': z.strictObject({
    data: z.strictObject({
      ...{ report: text, period, subject: text, made_at: instant, made_by: text.nullable() },
      leads_known_later: count.describe('leads with data that was read after the issue was made'),
      differences: z.array(
        z.strictObject({
          figure: text,
          kept: z.union([text, z.number()]).nullable(),
          now: z.union([text, z.number()]).nullable(),
        }),
      ),
    }),
  }),
  'report new': z.strictObject({
    data: z.strictObject({
      ...{ report: text, file: text },
      is_listed: flag.describe('whether the settings have the report'),
      schedule: text.nullable(),
    }),
  }),
  'recipients list': z.strictObject({
    data: z.array(
      z.strictObject({
        ...{ address: text, report: text, from: text.describe('setting that lists the recipient') },
        ...{ name: text.nullable().optional(), locale: text.optional(), time_zone: text.optional() },
        ...{ blocks: texts.nullable().optional(), attachments: texts.nullable().optional() },
        filter: z
          .strictObject({ pipeline_ids: texts.nullable(), conditions: z.array(z.unknown()) })
          .optional(),
        ...{ in_settings: flag, ...preference },
        ...{ changed_at: instant.nullable(), changed_by: changedBy.nullable(), reason: text.nullable() },
        refused_in_a_row: count,
      }),
    ),
  }),
  'recipients pause': changed,
  'recipients resume': changed,
  'recipients unsubscribe': changed,
  'recipients frequency': changed,
  'recipients link': z.strictObject({
    data: z.array(z.strictObject({ address: text, report: text, url: text })),
  }),
  'recipients revoke-links': z.strictObject({
    data: z.strictObject({ revoked: flag.describe('false without --yes') }),
  }),
  'outbox list': z.strictObject({
    data: z.array(
      z.strictObject({
        ...{
          message_id: text,
          recipient: text,
          report: text.nullable(),
          period: period.nullable(),
          revision: count,
        },
        ...{ state: messageState, attempts: count },
        doubts: count.describe('attempts whose end nobody knows'),
        ...{ queued_at: instant, state_at: instant, next_attempt_at: instant.nullable() },
        ...{ reply_code: count.nullable(), response },
      }),
    ),
    meta: z.strictObject({
      servers_away: z.array(outage),
      refusing: z
        .array(
          z.strictObject({ recipient: text, report: text, issues_in_a_row: count, since: instant, response }),
        )
        .describe('recipients whose server refuses one issue after the other'),
    }),
  }),
  'outbox resolve': z.strictObject({
    data: z.strictObject({
      ...{ report: text, recipient: text, finding: z.enum(['delivered', 'lost']) },
      resolved: z.array(z.strictObject({ message_id: text, period: period.nullable() })),
    }),
  }),
  reload: z.strictObject({
    data: z.strictObject({
      ...{ pid: count, in_force_since: instant },
      changed: texts.describe('settings with a new value'),
    }),
  }),
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
        .describe('the last failed sync since the last complete one'),
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
            removed: count,
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
        .describe('null if the store is a file; the same holds for jobs'),
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
        next: instant.nullable(),
        next_local: text.nullable().describe('local time in the time zone of the schedule'),
      }),
    ),
    meta: z.strictObject({ warnings: texts }),
  }),
  'schedule next': z.strictObject({
    data: z.array(
      z.strictObject({
        ...{ ...schedule, catch_up: z.enum(['latest', 'all', 'none']) },
        next: z.array(
          z.strictObject({
            ...{ due_at: instant, local: text, covers: text.nullable() },
            note: text.nullable().describe('how a clock change affects it'),
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
    meta: z.strictObject({
      gaps: z
        .array(
          z.strictObject({
            ...{
              from: instant.nullable(),
              to: instant.nullable(),
              why: z.enum(['down', 'blocked', 'clock']),
            },
          }),
        )
        .describe('when the daemon did not run, in the last 30 days'),
    }),
  }),
  'queue list': z.strictObject({
    data: z.array(
      z.strictObject({
        ...{ id: text, queue: text, data: z.unknown(), given_up_at: instant, tries: count, problem: text },
      }),
    ),
  }),
  'queue retry': z.strictObject({ data: z.strictObject({ retried: count }) }),
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
  'db copy': z.union([
    z.strictObject({
      data: z.strictObject({
        ...copied,
        tables: z.array(z.strictObject({ table: text, rows: count, sha256: text })),
        violations: z.array(z.strictObject({ rule: text, count, examples: texts })),
        duration_ms: count,
      }),
    }),
    z.strictObject({
      data: z
        .strictObject({
          ...copied,
          is_dry_run: z.literal(true),
          tables: z.array(z.strictObject({ table: text, rows: count })),
        })
        .describe('with --dry-run'),
    }),
  ]),
  'db grant': z.union([
    z.strictObject({ data: z.strictObject({ role: text, is_new: flag, tables: count, views: count }) }),
    z.strictObject({ data: z.strictObject({ role: text, statements: texts }).describe('with --print') }),
  ]),
  'db prune': z.strictObject({
    data: z.array(z.strictObject({ table: text, before: instant, rows: count, deleted: count })),
    meta: z.strictObject({ deleted: flag.describe('false without --yes') }),
  }),
}
