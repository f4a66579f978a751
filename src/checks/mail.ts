/** Checks the messages and the mail server that should accept them. */
import { shellCommand } from '../errors.ts'
import { adviceFor } from '../mail/advice.ts'
import { counted } from '../report/words/numbers.ts'
import {
  countWaiting,
  type DeliveryProblem,
  listProblems,
  listRefusing,
  type RefusingRecipient,
} from '../store/outbox/delivery-problems.ts'
import { listMailboxesAway } from '../store/outbox/notification.ts'
import { findMailOutage, type MailOutage } from '../store/outbox/send-limits.ts'
import { listPreferences } from '../store/reports/preference.ts'
import { formatAge, formatUtc, minutesBefore } from '../time.ts'
import { ALERTED, type Check, type Facts, type Finding, internal, plain, SHOWN } from './check.ts'

const DEFERRED_MINUTES = 120
/** The number of issues in a row that a recipient's mail server must refuse before this is reported. */
export const REFUSED_IN_ROW = 3
const WEEK_MINUTES = 7 * 24 * 60
const OF_MESSAGES = { ...ALERTED, part: 'messages' } as const

export const MAIL_CHECKS = {
  mail_away: {
    ...OF_MESSAGES,
    title: 'mail waiting',
    meaning: 'the mail server cannot be reached, refuses the login, or takes nothing from this sender',
    alert: 'after_failures',
    find: findOutage,
  },
  messages_waiting: {
    ...OF_MESSAGES,
    title: 'messages deferred',
    meaning:
      'the mail server has deferred messages for more than two hours, or refuses them and names no recipient',
    find: findWaiting,
  },
  outbox_late: {
    ...SHOWN,
    part: 'messages',
    title: 'messages waiting',
    meaning: 'messages have waited for two hours, although the mail server can be reached',
    find: findLate,
  },
  messages_failed: {
    ...OF_MESSAGES,
    title: 'messages refused',
    meaning:
      'messages of the last week were refused or given up, and no later one to that recipient was sent',
    find: async ({ db, now }) =>
      (await listProblems(db, 'failed', minutesBefore(now, WEEK_MINUTES))).map(refused),
  },
  messages_bounced: {
    ...OF_MESSAGES,
    title: 'messages bounced',
    meaning: 'messages of the last week were sent and came back, and no later one to that recipient was sent',
    find: async ({ db, now }) =>
      (await listProblems(db, 'bounced', minutesBefore(now, WEEK_MINUTES))).map(bounced),
  },
  messages_complained: {
    ...OF_MESSAGES,
    title: 'reported as spam',
    meaning: 'recipients reported messages of the last week as spam; they get that report no more',
    find: async ({ db, now }) =>
      (await listProblems(db, 'complained', minutesBefore(now, WEEK_MINUTES))).map(complained),
  },
  bounces_away: {
    ...OF_MESSAGES,
    title: 'bounces not read',
    meaning: 'the mailbox of bounces could not be read for more than an hour',
    find: findMailboxesAway,
  },
  messages_unconfirmed: {
    ...OF_MESSAGES,
    title: 'messages unconfirmed',
    meaning: 'messages may or may not have arrived, and a person has to decide',
    find: async ({ db, now }) =>
      (await listProblems(db, 'unconfirmed', minutesBefore(now, WEEK_MINUTES))).map(unconfirmed),
  },
  recipient_failing: {
    ...ALERTED,
    part: 'recipients',
    title: 'recipient failing',
    meaning: 'three or more issues in a row to one recipient were refused or came back',
    find: async ({ db }) => (await listRefusing(db, REFUSED_IN_ROW)).map(failing),
  },
  recipient_paused: {
    ...ALERTED,
    part: 'recipients',
    title: 'recipient paused',
    meaning: 'too many issues in a row to one recipient were refused or came back; they get no more',
    find: findPaused,
  },
} as const satisfies Record<string, Check>

/** Describes the waiting messages, such as `2 messages wait, the oldest for 3 h`. */
async function formatWaiting({ db, now }: Pick<Facts, 'db' | 'now'>): Promise<string> {
  const waiting = await countWaiting(db)
  if (waiting.since === null) return 'none waits'
  const span = formatAge(now, waiting.since)
  return `${waitingText(waiting)}, ${waiting.messages === 1 ? '' : 'the oldest '}for ${span}`
}

/** Alerts are counted too, because one of them is about the messages that wait. */
function waitingText({ messages, alerts }: Awaited<ReturnType<typeof countWaiting>>): string {
  const among = alerts === 0 ? '' : ` (alerts: ${alerts})`
  return `${counted(messages, 'message')} ${messages === 1 ? 'waits' : 'wait'}${among}`
}

async function findOutage(facts: Facts): Promise<Finding[]> {
  const { db, mailServer } = facts
  // The store may still contain an outage of a mail server that the settings no longer name. That outage is
  // ignored.
  const outage = mailServer === null ? undefined : await findMailOutage(db, mailServer)
  if (outage === undefined) return []
  const { server, kind, beganAt, failures, response } = outage
  const waiting = waitingText(await countWaiting(db))
  return internal(
    `${server} ${outageProblem(outage)} since ${formatUtc(beganAt)}, and ${waiting}: ${response}`,
    adviceFor(response) ?? AWAY_HINTS[kind],
    {
      brief: `the mail server ${outageProblem(outage)}; ${await formatWaiting(facts)}`,
      // Neither a wrong setting nor a daily limit is over soon. An infinite number of failures opens the alert
      // at once.
      failures: kind === 'transient' ? failures : Number.POSITIVE_INFINITY,
    },
  )
}

async function findWaiting(facts: Facts): Promise<Finding[]> {
  const { db, now } = facts
  const brief = `the mail server defers messages; ${await formatWaiting(facts)}`
  return (await listProblems(db, 'deferred', minutesBefore(now, DEFERRED_MINUTES))).map((one) => ({
    subject: subjectOf(one),
    message: `${messagesOf(one)} ${verb(one)} deferred by the mail server since ${formatUtc(one.since)}, ${quoted(one)}`,
    brief,
    hint: 'A running daemon tries them for two days, then gives them up; ask whoever runs the mail server that answers so.',
  }))
}

async function findLate(facts: Facts): Promise<Finding[]> {
  const { since } = await countWaiting(facts.db)
  if (since === null || since >= minutesBefore(facts.now, DEFERRED_MINUTES)) return []
  if ((await findOutage(facts)).length > 0) return []
  return plain(await formatWaiting(facts), `${shellCommand('outbox list')} lists them.`)
}

const MAILBOX_MINUTES = 60

async function findMailboxesAway({ db, now }: Facts): Promise<Finding[]> {
  // Nobody tries a mailbox that is no longer in the settings.
  const tried = await listMailboxesAway(db, minutesBefore(now, MAILBOX_MINUTES))
  return tried.flatMap(({ name, failingSince, response }) =>
    failingSince === null || failingSince > minutesBefore(now, MAILBOX_MINUTES)
      ? []
      : internal(
          `the mailbox of bounces could not be read since ${formatUtc(failingSince)}: ${response ?? name}`,
          `Sending goes on, but it is not known which messages come back. ${shellCommand('outbox bounces')} tries it again and says what to check.`,
          { brief: 'the mailbox of bounces cannot be read' },
        ),
  )
}

async function findPaused({ db }: Facts): Promise<Finding[]> {
  const paused = (await listPreferences(db)).filter(
    ({ state, changedBy }) => state === 'paused' && changedBy === 'leadsheet',
  )
  return paused.map(({ address, report, changedAt, reason }) => ({
    subject: `${address} of ${report}`,
    message: `${address} gets the report ${report} no more since ${formatUtc(changedAt)}: ${reason ?? 'too many of the messages were refused'}`,
    hint: `Correct the address in the settings, or go on: ${shellCommand(`recipients set active ${address}`)}, or ${shellCommand('recipients set active --all')} for all whom leadsheet paused.`,
  }))
}

/** Says in words what is wrong with a mail server: `smtp://mail.example.com:587 cannot be reached`. */
export function outageProblem({ kind, replyCode }: Pick<MailOutage, 'kind' | 'replyCode'>): string {
  if (kind === 'configuration') return 'does not let us in'
  if (kind === 'sender') return 'takes no message from us'
  return replyCode === null ? 'cannot be reached' : 'defers all messages'
}

const AWAY_HINTS = {
  transient:
    'Nothing is lost: a running daemon tries it again and again, and at once when it starts. The messages go out once it answers.',
  configuration: `Check user, password, port and protocol of mail.url, and mail.oauth; ${shellCommand('doctor')} tries them. Nothing is lost.`,
  sender: `The answer is about the sender, so no recipient is at fault. Check the sending limits of the account, whether it may send as mail.from, and SPF, DKIM and DMARC. Nothing is lost: a running daemon tries one message each hour, and at once when it starts.`,
} as const satisfies Record<MailOutage['kind'], string>

function failing({ recipient, report, issues, since, response }: RefusingRecipient): Finding {
  return {
    subject: `${recipient} of ${report}`,
    message: `${counted(issues, 'issue')} of the report ${report} in a row were refused or came back for ${recipient} since ${formatUtc(since)}: ${response}`,
    hint: 'Correct the address in the settings, or take it out; after `mail.suppress_after_bounces` it gets no more.',
  }
}

function subjectOf({ report }: Pick<DeliveryProblem, 'report'>): string {
  return report ?? 'alerts'
}

function refused(one: DeliveryProblem): Finding {
  return {
    subject: subjectOf(one),
    message: `${messagesOf(one)} ${verb(one)} refused or given up since ${formatUtc(one.since)}, ${quoted(one)}`,
    brief: `${counted(one.messages, 'message')} of the last week refused or given up`,
    last: one.last,
    hint: `${shellCommand('outbox list --state failed')} lists them.${resendHint(one, (report) => `Once the cause is gone, ${shellCommand(`report resend ${report} --failed`)} sends them again.`)}`,
  }
}

function bounced(one: DeliveryProblem): Finding {
  return {
    subject: subjectOf(one),
    message: `${messagesOf(one)} came back since ${formatUtc(one.since)}, ${quoted(one)}`,
    brief: `${counted(one.messages, 'message')} of the last week came back`,
    last: one.last,
    hint: `${shellCommand('outbox list --state bounced')} lists them. Correct the addresses in the settings.${resendHint(one, (report) => `Where the cause is gone, ${shellCommand(`report resend ${report} --failed`)} sends them again.`)}`,
  }
}

function complained(one: DeliveryProblem): Finding {
  return {
    subject: subjectOf(one),
    message: `${messagesOf(one)} ${verb(one)} reported as spam by ${one.messages === 1 ? '' : 'recipients such as '}${one.recipient}, last ${formatUtc(one.last)}`,
    brief: `${counted(one.messages, 'message')} of the last week reported as spam`,
    last: one.last,
    hint: `Who reports a message gets that report no more: ${shellCommand('recipients')} says so. Ask them whether they want it; many complaints make providers refuse all mail of the sender.`,
  }
}

function unconfirmed(one: DeliveryProblem): Finding {
  return {
    subject: subjectOf(one),
    message: `${messagesOf(one)} may or may not have arrived, since ${formatUtc(one.since)}, ${quoted(one)}`,
    brief: `${counted(one.messages, 'message')} of the last week unconfirmed`,
    last: one.last,
    hint: `${shellCommand('outbox list --state unconfirmed')} lists them; ask whether they have arrived.${resendHint(one, (report) => `Where not, ${shellCommand(`report resend ${report} --unconfirmed`)} sends them again.`)}`,
  }
}

/** Empty for mails about alerts, which are never sent again. */
function resendHint({ report }: DeliveryProblem, again: (report: string) => string): string {
  return report === null ? '' : ` ${again(report)}`
}

function messagesOf({ report, messages }: DeliveryProblem): string {
  return report === null
    ? counted(messages, 'alert')
    : `${counted(messages, 'message')} of the report ${report}`
}

function verb({ messages }: DeliveryProblem): string {
  return messages === 1 ? 'was' : 'were'
}

function quoted({ recipient, response, messages }: DeliveryProblem): string {
  return `${messages === 1 ? 'to' : 'such as that to'} ${recipient}${response === null ? '' : `: ${response}`}`
}
