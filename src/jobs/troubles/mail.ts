/** What is wrong with messages, and with the mail server that should take them. */
import { shellCommand } from '../../errors.ts'
import { counted } from '../../report/words/numbers.ts'
import {
  countWaiting,
  listPutOff,
  listRefused,
  listRefusing,
  listUnconfirmed,
  type MessageTrouble,
  type RefusingRecipient,
} from '../../store/outbox/delivery-problems.ts'
import { findMailOutage, type MailOutage } from '../../store/outbox/smtp-circuit.ts'
import { listPreferences } from '../../store/reports/preference.ts'
import type { Trouble } from '../notice.ts'
import { tellInstant } from '../schedule/schedule.ts'
import { minutesBefore, type Watch } from './watch.ts'

export const PUT_OFF_MINUTES = 120
/** So many issues are no accident. */
const REFUSED_IN_ROW = 3
export const WEEK_MINUTES = 7 * 24 * 60

export const WATCH_MAIL: Watch = {
  reasons: [
    'mail_away',
    'messages_waiting',
    'messages_failed',
    'messages_unconfirmed',
    'recipient_failing',
    'recipient_paused',
  ],
  async find({ store: { db }, mailServer }, now) {
    const weekAgo = minutesBefore(now, WEEK_MINUTES)
    // Of a server that the settings have no more, the row stays.
    const outage = mailServer === null ? undefined : await findMailOutage(db, mailServer)
    const paused = (await listPreferences(db)).filter(
      ({ state, changedBy }) => state === 'paused' && changedBy === 'leadsheet',
    )
    return [
      ...(outage === undefined ? [] : [away(outage, (await countWaiting(db)).messages)]),
      ...(await listPutOff(db, minutesBefore(now, PUT_OFF_MINUTES))).map(putOff),
      ...(await listRefused(db, weekAgo)).map(refused),
      ...(await listUnconfirmed(db, weekAgo)).map(unconfirmed),
      ...(await listRefusing(db, REFUSED_IN_ROW)).map(failing),
      ...paused.map(
        ({ address, report, changedAt, reason }): Trouble => ({
          ...{ reason: 'recipient_paused', subject: `${address} of ${report}` },
          message: `${address} gets the report ${report} no more since ${tellInstant(changedAt)}: ${reason ?? 'too many of the messages were refused'}`,
          hint: `Mend the address in the settings, or go on: ${shellCommand(`recipients resume ${address}`)}.`,
        }),
      ),
    ]
  },
}

function away({ server, kind, beganAt, failures, response }: MailOutage, messages: number): Trouble {
  const isSetting = kind === 'configuration'
  return {
    ...{ reason: 'mail_away', subject: '' },
    message: `${server} ${isSetting ? 'does not let us in' : 'cannot be reached'} since ${tellInstant(beganAt)}, and ${counted(messages, 'message')} ${messages === 1 ? 'waits' : 'wait'}: ${response}`,
    hint: isSetting
      ? `Check user, password, port and protocol of smtp.url; ${shellCommand('doctor')} tries them. Nothing is lost.`
      : `Nothing is lost: it is tried again, and the messages go out once it answers. ${shellCommand('reload')} has it tried at once.`,
    // A setting does not mend itself.
    failures: isSetting ? Number.POSITIVE_INFINITY : failures,
  }
}

function failing({ recipient, report, issues, since, response }: RefusingRecipient): Trouble {
  return {
    ...{ reason: 'recipient_failing', subject: `${recipient} of ${report}` },
    message: `${counted(issues, 'issue')} of the report ${report} in a row were refused for ${recipient} since ${tellInstant(since)}: ${response}`,
    hint: 'Mend the address in the settings, or take it out; after `mail.suppress_after_bounces` it gets no more.',
  }
}

function putOff(one: MessageTrouble): Trouble {
  return {
    ...{ reason: 'messages_waiting', subject: subjectOf(one) },
    message: `${messagesOf(one)} ${verb(one)} put off by the mail server since ${tellInstant(one.since)}, ${quoted(one)}`,
    hint: 'They are tried for two days, then given up; ask whoever runs the mail server of the recipients.',
  }
}

/** Of the notice about them. */
export function subjectOf({ report }: Pick<MessageTrouble, 'report'>): string {
  return report ?? 'notices'
}

function refused(one: MessageTrouble): Trouble {
  return {
    ...{ reason: 'messages_failed', subject: subjectOf(one) },
    message: `${messagesOf(one)} ${verb(one)} refused or given up since ${tellInstant(one.since)}, ${quoted(one)}`,
    hint: `${shellCommand('outbox list --state failed')} lists them.${resendHint(one, (report) => `Once the address is mended, ${shellCommand(`report resend ${report} --failed`)} sends them again.`)}`,
  }
}

function unconfirmed(one: MessageTrouble): Trouble {
  return {
    ...{ reason: 'messages_unconfirmed', subject: subjectOf(one) },
    message: `${messagesOf(one)} may or may not have arrived, since ${tellInstant(one.since)}, ${quoted(one)}`,
    hint: `${shellCommand('outbox list --state unconfirmed')} lists them; ask whether they have arrived.${resendHint(one, (report) => `Where not, ${shellCommand(`report resend ${report} --unconfirmed`)} sends them again.`)}`,
  }
}

/** @param again what can be done for messages of a report; notices are not sent again */
function resendHint({ report }: MessageTrouble, again: (report: string) => string): string {
  return report === null ? '' : ` ${again(report)}`
}

function messagesOf({ report, messages }: MessageTrouble): string {
  return report === null
    ? counted(messages, 'notice')
    : `${counted(messages, 'message')} of the report ${report}`
}

function verb({ messages }: MessageTrouble): string {
  return messages === 1 ? 'was' : 'were'
}

function quoted({ recipient, response, messages }: MessageTrouble): string {
  return `${messages === 1 ? 'to' : 'such as that to'} ${recipient}${response === null ? '' : `: ${response}`}`
}
