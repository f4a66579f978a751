/** Schemas of the `--json` output of the commands for reports, recipients and the outbox. */
import { z } from 'zod'
import { count, flag, instant, messageState, period, text, texts } from './parts.ts'

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
        page: text.nullable().describe('file of the page in the archive'),
        not_sent: text.nullable().describe('why it was not sent; null if nothing prevented it'),
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
const messageCounts = z.strictObject({
  ...{ total: count, sent: count, failed: count, unconfirmed: count, withdrawn: count },
})
export const issue = z.strictObject({
  ...{ report: text, period },
  filter: z.strictObject({ pipeline_ids: texts.nullable(), conditions: z.array(z.unknown()) }).nullable(),
  ...{ subject: text, made_at: instant },
  made_by: text.nullable().describe('the version of leadsheet'),
  not_sent: text.nullable().describe('why it was not sent; null if nothing prevented it'),
  messages: messageCounts.describe('the first message to each recipient'),
  copies: messageCounts.describe('the last copy to each recipient of a `report resend`'),
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

export const outage = z.strictObject({
  ...{
    server: text,
    kind: z.enum(['transient', 'configuration', 'sender']),
    since: instant,
    failures: count,
  },
  ...{ next_attempt_at: instant, reply_code: count.nullable(), response: text },
})

export const REPORT_RESULTS = {
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
  'report new': z.strictObject({
    data: z.strictObject({
      ...{ report: text, file: text },
      is_listed: flag.describe('whether the settings list the report'),
      schedule: text.nullable(),
    }),
  }),
  'recipients list': z.strictObject({
    data: z.array(
      z.strictObject({
        ...{
          address: text,
          report: text,
          from: text.describe('the place in the settings that names the recipient'),
        },
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
        unconfirmed_count: count.describe('attempts whose outcome nobody knows'),
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
        .describe('recipients whose mail server has refused issues in a row'),
    }),
  }),
  'outbox cancel': z.strictObject({
    data: z.strictObject({
      cancelled: z.boolean().describe('false if --yes was missing: the messages still wait'),
      messages: z.array(
        z.strictObject({
          ...{ message_id: text, recipient: text, report: text.nullable(), period: period.nullable() },
        }),
      ),
    }),
  }),
  'outbox resolve': z.strictObject({
    data: z.strictObject({
      ...{ report: text, recipient: text, finding: z.enum(['delivered', 'lost']) },
      resolved: z.array(z.strictObject({ message_id: text, period: period.nullable() })),
    }),
  }),
}
