/** The words of the pages for recipients in English; another language is another file of this shape. */
import type { PeriodKind } from '../../domain/figures.ts'

export type PageWords = typeof ENGLISH_PAGE

const list = new Intl.ListFormat('en-GB', { type: 'conjunction' })
const DAYS = ['Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays']
const COVERED: Record<PeriodKind, string> = {
  day: 'the day before',
  working_day: 'the last working day, and on Mondays the weekend too',
  week: 'the week before',
  month: 'the month before',
  since_last: 'everything since the last one',
}

export const ENGLISH_PAGE = {
  about: 'Your subscription',
  /** @param weekdays 1 for Monday @param times of the clock, on each of these days */
  due: (weekdays: readonly number[], times: readonly string[]) => {
    const isWorkweek = weekdays.join() === '1,2,3,4,5'
    const days =
      weekdays.length === 7
        ? 'every day'
        : isWorkweek
          ? 'Monday to Friday'
          : `on ${list.format(weekdays.map((day) => DAYS[day - 1] ?? ''))}`
    return times.length > 4 ? `${days}, ${times.length} times` : `${days} at ${list.format(times)}`
  },
  inZone: (text: string, zone: string) => `${text} (${zone})`,
  facts: {
    when: 'When',
    next: 'Next',
    covers: 'Covers',
    leads: 'Leads',
    files: 'Attached',
  },
  covered: COVERED,
  pipelines: (names: string) => `pipelines ${names}`,
  allLeads: 'all that the report is about',
  state: {
    active: 'You get this report.',
    weekly: 'You get this report once a week.',
    paused: {
      recipient: (since: string) => `Paused since ${since}. You get nothing until you resume.`,
      operator: (since: string) => `Paused for you since ${since} by the people who send it.`,
      leadsheet: (since: string) => `Paused since ${since}, because mails to you were refused.`,
    },
    unsubscribed: (since: string) => `Unsubscribed since ${since}.`,
    unlisted: 'You are not on the list of this report, so you get nothing.',
  },
  done: {
    pause: 'Paused.',
    resume: 'Resumed.',
    stop: 'You will get no more of these mails. One that is already under way may still arrive.',
    start: 'Welcome back.',
    weekly: 'Changed: once a week from now on.',
    as_scheduled: 'Changed: each report from now on.',
  },
  actions: {
    pause: 'Pause',
    resume: 'Resume',
    stop: 'Unsubscribe',
    start: 'Subscribe again',
    weekly: 'Only once a week',
    as_scheduled: 'Every report',
  },
  hints: {
    pause: 'Nothing comes until you resume here.',
    resume: 'The reports come again as before.',
    stop: 'No more of this report. You can come back here.',
    start: 'The reports come again as before.',
    weekly: 'One report a week, about the week before.',
    as_scheduled: 'Each report at its time again.',
    unlisted: 'Stays so if you are put on the list again.',
  },
  private: 'This page is yours alone: whoever has its address can change what you get.',
  notices: {
    unknown: {
      title: 'This link leads nowhere',
      text: 'Perhaps it was cut when it was copied, or is no longer valid. Open the link from the newest mail, or answer that mail to unsubscribe. (The dashboard begins at /.)',
    },
    wish: {
      title: 'This was not understood',
      text: 'Nothing was changed. Open the link from the mail again. (The dashboard begins at /.)',
    },
    tooMany: { title: 'Too many requests', text: 'Nothing was changed. Try again in a minute.' },
    host: {
      title: 'Not under this address',
      text: 'Open the link from the mail as it is. (Operators name further addresses in web.hosts.)',
    },
    failed: {
      title: 'Something went wrong here',
      text: 'Nothing was changed. Try again later, or answer the mail.',
    },
  },
}
