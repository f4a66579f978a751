/** Why operators are told something: one row a reason. What finds each of them is in `jobs/troubles/`. */

export interface ReasonFacts {
  /** In subjects and headings. */
  readonly title: string
  /** In the README. */
  readonly meaning: string
  /** `after_failures`: it can pass by itself, so that the first time means little. */
  readonly counts: 'at_once' | 'after_failures'
  /** It has happened, and nothing can be waited for: told once, never reminded of, and never recovered from. */
  readonly isEvent: boolean
}

const AT_ONCE = { counts: 'at_once', isEvent: false } as const
const AFTER_FAILURES = { counts: 'after_failures', isEvent: false } as const
const EVENT = { counts: 'at_once', isEvent: true } as const

export const REASONS = {
  key_refused: {
    title: 'API key refused',
    meaning: 'the upstream does not accept the API key, or does not let it read',
    ...AT_ONCE,
  },
  sync_failing: {
    title: 'sync failing',
    meaning: 'so many syncs in a row failed or were not whole; with the last error',
    ...AFTER_FAILURES,
  },
  sync_deferred: {
    title: 'sync put off',
    meaning: 'the upstream has been asking to wait for more than two hours, or asks for more than that',
    ...AT_ONCE,
  },
  sync_late: {
    title: 'data old',
    meaning: 'no sync has read all leads for 26 hours',
    ...AT_ONCE,
  },
  events_stopped: {
    title: 'events stopped',
    meaning:
      'the webhook brings nothing any more, though two syncs in a row or more found leads new or changed; where nobody knows what it tells of, as of one registered by hand, it may be silent for three days',
    ...AT_ONCE,
  },
  events_waiting: {
    title: 'events waiting',
    meaning: 'leads of which events told have been waiting to be read for half an hour',
    ...AT_ONCE,
  },
  events_failing: {
    title: 'events failing',
    meaning: 'a tenth of the events of a day, and five at least, could not be read or followed',
    ...AT_ONCE,
  },
  removals_refused: {
    title: 'mass removal refused',
    meaning: 'more than a fifth of the leads were missing from a whole scan, so that none was marked removed',
    ...AT_ONCE,
  },
  counts_unusual: {
    title: 'unusual number of leads',
    meaning: 'a whole scan met less than half, or more than twice, of what the one before met',
    ...EVENT,
  },
  fields_changed: {
    title: 'fields changed',
    meaning: 'a field of the records has vanished or has another type',
    ...EVENT,
  },
  records_quarantined: {
    title: 'records held back',
    meaning: 'records of the last day cannot be read',
    ...AT_ONCE,
  },
  report_failed: {
    title: 'report failed',
    meaning: 'the last due time of a report ended without messages: it failed or was skipped',
    ...AT_ONCE,
  },
  report_held: {
    title: 'report held',
    meaning: 'a report waits to be let go by a person',
    ...AT_ONCE,
  },
  report_late: {
    title: 'report late',
    meaning: 'a report is more than half an hour past its due time and not made yet',
    ...AT_ONCE,
  },
  report_missed: {
    title: 'report missed',
    meaning: 'due times of a report passed by while nothing ran, and were not made up for',
    ...EVENT,
  },
  sections_failed: {
    title: 'report incomplete',
    meaning: 'of the issue of a report that was mailed last, a part could not be made',
    ...AT_ONCE,
  },
  mail_away: {
    title: 'mail waiting',
    meaning:
      'the mail server cannot be reached or does not let us in; with how many messages wait, since when',
    ...AFTER_FAILURES,
  },
  messages_waiting: {
    title: 'messages put off',
    meaning: 'the mail server has been putting messages off for more than two hours',
    ...AT_ONCE,
  },
  messages_failed: {
    title: 'messages refused',
    meaning:
      'messages of the last week were refused for good or given up, and none to the same recipient was sent since',
    ...AT_ONCE,
  },
  messages_unconfirmed: {
    title: 'messages unconfirmed',
    meaning: 'messages that may or may not have arrived are left to a person',
    ...AT_ONCE,
  },
  recipient_failing: {
    title: 'recipient failing',
    meaning: 'three issues in a row, or more, to a recipient were refused',
    ...AT_ONCE,
  },
  recipient_paused: {
    title: 'recipient paused',
    meaning: 'too many messages in a row to a recipient were refused, so that there are no more',
    ...AT_ONCE,
  },
  snapshot_old: {
    title: 'snapshot old',
    meaning: 'there is new data for more than two hours that the snapshot does not show',
    ...AT_ONCE,
  },
  store_damaged: {
    title: 'database rules broken',
    meaning: 'one of the rules that `doctor` asks for does not hold; looked at once an hour',
    ...AT_ONCE,
  },
  disk_low: {
    title: 'disk nearly full',
    meaning: 'there is no room for another snapshot and the log of a sync',
    ...AFTER_FAILURES,
  },
  log_large: {
    title: 'write-ahead log large',
    meaning: 'the file beside the database has more than 128 MB though no sync runs',
    ...AFTER_FAILURES,
  },
  clock_set: {
    title: 'clock set',
    meaning: 'the clock went back or jumped by more than two minutes, or the machine slept',
    ...EVENT,
  },
  clock_wrong: {
    title: 'clock wrong',
    meaning: 'our clock is more than two minutes away from that of the upstream',
    ...AFTER_FAILURES,
  },
  job_stuck: {
    title: 'job stuck',
    meaning: 'a sync, report or delivery has been running for far longer than it may',
    ...AT_ONCE,
  },
  jobs_dead: {
    title: 'jobs given up',
    meaning: 'jobs of the workers failed again and again, and are not tried any more; on PostgreSQL alone',
    ...AT_ONCE,
  },
  settings_old: {
    title: 'settings not in force',
    meaning:
      'the daemon refused the settings on the disk, or they were changed an hour ago and nobody had it read them',
    ...AT_ONCE,
  },
} as const satisfies Record<string, ReasonFacts>

export type Reason = keyof typeof REASONS

/** Of what the store says; a reason of another version of the program is called by its name. */
export function factsOf(reason: string): ReasonFacts {
  const known: Readonly<Record<string, ReasonFacts>> = REASONS
  return known[reason] ?? { title: reason.replaceAll('_', ' '), meaning: '', ...AT_ONCE }
}
