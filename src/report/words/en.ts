/**
 * The words of the reports in English, all of them; another language is another file of this shape. Values arrive
 * as ready strings, counts as numbers where the grammar needs them.
 */
import type { ChangeKind, PeriodKind, StatDifference } from '../../domain/figures.ts'
import { capitalise } from './clean-text.ts'
import type { PeriodNames, PeriodShape } from './dates.ts'
import type { Numbers } from './numbers.ts'

export type Words = ReturnType<typeof english>

export function english(numbers: Numbers, locale: string) {
  const { count } = numbers
  const plural = (n: number, one: string, many: string) => `${count(n)} ${n === 1 ? one : many}`
  const conjunction = new Intl.ListFormat(locale, { type: 'conjunction' })
  const disjunction = new Intl.ListFormat(locale, { type: 'disjunction' })
  const days = (n: number) => plural(n, 'day', 'days').replace(' ', '\u00a0')
  const records = (n: number) => plural(n, 'record', 'records')
  const changes: Record<ChangeKind, string> = {
    won: 'Won',
    forward: 'Moved forward',
    back: 'Moved back',
    lost: 'Lost or disqualified',
    gone: 'Gone from the service',
    returned: 'Came back',
  }
  const figures: Record<StatDifference['figure'], string> = {
    leads: 'Leads',
    open: 'Open',
    won: 'Won',
    lost: 'Lost',
    disqualified: 'Disqualified',
    win_rate: 'Win rate',
    open_value: 'Open pipeline',
    won_value: 'Won value',
  }
  /** Of columns of `lead`, where the name of the column does not read well. */
  const fields: Record<string, string> = {
    company_country: 'country',
    company_region: 'region',
    company_industry: 'industry',
    company_employees: 'employees',
    agent_id: 'agent',
    value_amount: 'value',
  }
  const statuses: Record<string, string> = {}

  return {
    dir: 'ltr',
    /** Of a report that has none of its own: `eu-daily` is `Eu daily leads`. */
    title: (name: string) => `${capitalise(name)} leads`,
    isNew: 'new',
    noChange: 'no change',
    none: '–',
    points: (size: string) => `${size} pt`,
    counts: (part: number, whole: number) => `${count(part)} of ${count(whole)}`,
    and: (parts: readonly string[]) => conjunction.format(parts),
    or: (parts: readonly string[]) => disjunction.format(parts),
    days,
    fields,
    /** A status of leads or agents as people say it, where its own name is not that. */
    statuses,

    duration: {
      moment: 'less than a minute',
      minutes: (n: number) => plural(n, 'minute', 'minutes'),
      hours: (n: number) => plural(n, 'hour', 'hours'),
      days,
    },

    period: {
      /** `Week 47 · 16–22 November 2026` */
      long: ({ week, long }: PeriodNames) => (week === null ? long : `Week ${week} · ${long}`),
      short: ({ week, short }: PeriodNames) => (week === null ? short : `week ${week}`),
      brief: ({ week, shape, brief, name }: PeriodNames) =>
        week === null ? (shape === 'month' ? `in ${name}` : `on ${brief}`) : `in week ${week}`,
      /** Within "changes …". */
      against: ({ shape, name }: PeriodNames) =>
        ({
          day: `against the ${name} before`,
          days: 'against the same span before',
          week: 'against the week before',
          month: `against ${name}`,
        })[shape],
      /** What a period is compared with, as the subject of a sentence. */
      before: ({ shape, name }: PeriodNames) =>
        ({
          day: `the ${name} before`,
          days: 'the same span before',
          week: 'the week before',
          month: name,
        })[shape],
    },

    scope: {
      pipelines: (n: number) => plural(n, 'pipeline', 'pipelines'),
      noPipelines: 'No pipelines yet',
      comparedWith: (period: string) => `compared with ${period}`,
      only: (conditions: string) => `only ${conditions}`,
      others: (n: number) => plural(n, 'other', 'others'),
      atLeast: (field: string, value: string) => `${field} ${value} or more`,
      atMost: (field: string, value: string) => `${field} ${value} or less`,
      between: (field: string, min: string, max: string) => `${field} ${min} to ${max}`,
    },

    subject: {
      newLeads: (n: number, percent: string | null) => `${count(n)} new${percent ? ` (${percent})` : ''}`,
      won: (n: number) => `${count(n)} won`,
      stalled: (n: number) => `${count(n)} stalled`,
      failing: (n: number) => `${plural(n, 'agent', 'agents')} failing`,
      quiet: 'quiet, nothing new',
      incomplete: (newLeads: number, won: number) =>
        `incomplete data, ${count(newLeads)} new and ${count(won)} won so far`,
      noData: (since: string | null) => (since ? `no data since ${since}` : 'no data yet'),
      empty: 'no leads yet',
      beforeAll: 'no leads known of this time',
    },

    headline: {
      counts: (newLeads: number, won: number) =>
        `${newLeads === 0 ? 'No new leads' : plural(newLeads, 'new lead', 'new leads')} and ${won === 0 ? 'none' : count(won)} won`,
      better: (counts: string, than: string, newLeads: string, won: string) =>
        `${counts}: better than ${than} (${newLeads} and ${won}).`,
      slower: (counts: string, than: string, newLeads: string, won: string) =>
        `${counts}: slower than ${than} (${newLeads} and ${won}).`,
      beside: (counts: string, before: string, newLeads: string, won: string) =>
        `${counts} (${before}: ${newLeads} and ${won}).`,
      first: (counts: string) => `${counts}.`,
      firstDetail: 'These are the first figures; there is nothing yet to compare them with.',
      quiet: ({ shape, name }: PeriodNames) =>
        `${{ day: `A quiet ${name}`, days: 'Quiet days', week: 'A quiet week', month: `A quiet ${name}` }[shape]}: no new leads and nothing won.`,
      quietBefore: (before: string, newLeads: number, won: number) =>
        `${before.charAt(0).toUpperCase()}${before.slice(1)} brought ${newLeads === 0 ? 'no new leads' : plural(newLeads, 'new lead', 'new leads')} and ${won === 0 ? 'no wins' : plural(won, 'win', 'wins')}.`,
      incomplete: (newLeads: number, won: number) =>
        `Incomplete: at least ${plural(newLeads, 'new lead', 'new leads')} and ${count(won)} won.`,
      noData: (since: string | null) =>
        since ? `No data for this time: the last complete sync was ${since}.` : 'No data yet.',
      empty: 'No leads yet: the service has listed none.',
      beforeAll: 'Of this time no lead is known: those that there are came later.',
      emptyFilter: 'No leads: none meets the conditions of this report.',
      allWell: 'Nothing needs attention.',
    },

    freshness: {
      fresh: (at: string, age: string) => `Data as of ${at}, ${age} before this report.`,
      coveredThenFailed: (at: string) => `Data as of ${at}, which covers all of this report.`,
      ends: (at: string, age: string) =>
        `The data ends ${at}, ${age} before this report; what came after is missing below.`,
      before: (at: string, age: string) =>
        `The data is from ${at}, ${age} before this report; everything below shows the state of that time.`,
      never: 'No sync has read everything yet.',
      failed: (at: string, reason: string) => `The sync at ${at} did not finish: ${reason}.`,
      reasons: {
        unreachable: 'the service could not be reached, or kept failing',
        refused: 'the service did not accept our key',
        deferred: 'the service asked to be left alone for a while',
        unexpected: 'the service gave an answer that could not be read',
        stopped: 'it was stopped half-way',
        other: 'there was a fault on our side',
      },
      oldStats: (at: string) => `The service’s own statistics are from ${at}, before this report ends.`,
      oldAgents: (at: string) => `The agents are shown as they were at ${at}, before this report ends.`,
    },

    /** What stands above a report that is not as it should be. */
    banner: {
      title: 'Please note',
      /** These two begin the subject, in brackets. */
      stale: 'Stale data',
      unusual: 'Unusual data',
      scope: (leads: number, before: number) =>
        `This report covers ${leads === 0 ? 'no leads' : plural(leads, 'lead', 'leads')}; the last one covered ${count(before)}. Check that this is right before you rely on the numbers.`,
      scan: (leads: number, before: number) =>
        `The last whole reading of the service listed ${leads === 0 ? 'no leads' : plural(leads, 'lead', 'leads')}; the one before it listed ${count(before)}. Check the service before you rely on the numbers.`,
      removal: (met: number, of: number) =>
        `The last whole reading of the service listed only ${count(met)} of ${count(of)} leads. That the others are missing is taken for a fault; they are still counted here.`,
      created: 'were created',
      changed: 'changed their status',
      times: (what: string) =>
        `The times at which leads ${what} cannot be right; what is counted by them is doubtful.`,
      failed: (n: number, names: string) =>
        `${n === 1 ? 'A part of this report' : `${count(n)} parts of this report`} could not be made: ${names}.`,
      notMade: (names: string) => `Not attached, because it could not be made: ${names}.`,
      late: {
        down: (from: string, to: string) => `Sent late: leadsheet was not running from ${from} to ${to}.`,
        blocked: (from: string, to: string) =>
          `Sent late: leadsheet was busy with something else from ${from} to ${to}.`,
        clock: (from: string, to: string) =>
          `Sent late: the clock of the computer was changed, from ${from} to ${to}.`,
        waited: (from: string, to: string) => `Sent late: it had to wait from ${from} to ${to}.`,
      },
      resend: (at: string, first: string, reason: string) =>
        `Sent again at ${at}, in place of the mail of ${first}${reason ? `: ${reason}` : '.'}`,
    },

    /** In the place of what could not be made. */
    failed: {
      note: 'This part could not be made; the rest of the report is not affected.',
      reason: (text: string) => `Reason: ${text}`,
      charts: 'The charts could not be made; the numbers are not affected.',
      headline: 'Headline',
      freshness: 'Age of the data',
      kpis: 'Lines below the numbers',
      queries: 'Tables of this report',
    },

    attention: {
      title: 'Needs attention',
      failing: (name: string, since: string | null, error: string | null) =>
        `${name} ${since ? `has been failing since ${since}` : 'is failing'}${error ? ` (${error})` : ''}.`,
      moreFailing: (n: number) => `${plural(n, 'more agent is', 'more agents are')} failing.`,
      stalled: (n: number, idleDays: number, company: string | null, idle: string) =>
        `${plural(n, 'lead has', 'leads have')} not moved for ${days(idleDays)} or more${
          company ? `; the longest is ${company}, ${idle}.` : '.'
        }`,
      held: (n: number) =>
        `${records(n)} from the service could not be read; ${n === 1 ? 'it is' : 'they are'} missing here.`,
    },

    kpi: {
      newLeads: 'New leads',
      won: 'Won',
      winRate: 'Win rate, 30 days',
      openValue: 'Open pipeline',
      inAll: (n: number) => `of ${plural(n, 'lead', 'leads')}`,
      worth: (value: string) => `worth ${value}`,
      wonOfClosed: (counts: string) => `${counts} closed`,
      closedWon: 'of closed leads won',
      noneClosed: 'none closed',
      noValues: 'no values given',
      nothing: 'none',
      valueThen: (known: string) => `value then ${known}`,
      soFar: 'so far',
      doubtful: 'by a doubtful time',
      soFarWorth: (value: string) => `so far, worth ${value}`,
      basis: (value: string, when: string) => `vs ${value} ${when}`,
      /** Alternative text of a tile's line: what the last periods ranged between. */
      range: (low: string, high: string, n: number, kind: PeriodKind) =>
        `${low} to ${high} in ${kind === 'week' ? plural(n, 'week', 'weeks') : kind === 'month' ? plural(n, 'month', 'months') : days(n)}`,
    },

    trend: {
      title: 'New and won leads per day',
      note: (n: number) => `Last ${days(n)}`,
      ofLines: 'the thick line is the mean of 7 days',
      /** Alternative text of the chart; what it shows is told below it. */
      newLeads: (mean: string) => `New ${mean}`,
      won: (mean: string) => `Won ${mean}`,
      /** @param end where the last mean is not of the last days; null where it is */
      week: (end: string | null) => (end === null ? 'Over the last 7 days' : `In the 7 days up to ${end}`),
      finding: (
        week: string,
        newLeads: string,
        won: string,
        from: string,
        newBefore: string,
        wonBefore: string,
      ) =>
        `${week} ${newLeads} new leads and ${won} won a day on average; in the 7 days up to ${from} it was ${newBefore} and ${wonBefore}.`,
      short: (week: string, newLeads: string, won: string) =>
        `${week} ${newLeads} new leads and ${won} won a day on average.`,
      empty: 'There are not enough days yet for a trend.',
    },

    /** Of a figure that depends on what leads went through. */
    known: (known: number, of: number) => `known for ${count(known)} of ${plural(of, 'lead', 'leads')}`,
    notShown: (what: string | null, known: string) =>
      [what === null ? 'Not shown' : `${what}: not shown`, known].filter(Boolean).join(', '),

    funnel: {
      title: 'Funnel',
      stage: 'Stage',
      reached: 'Reached',
      conversion: 'From prior',
      inStage: 'In stage',
      medianDays: (value: string) => `${value} d`,
      ofService: (asOf: string) =>
        `All time, as the service counts it · as of ${asOf} · in stage: median of the last 90 days`,
      ofOurs: (asOf: string) =>
        `All time, by the furthest stage · as of ${asOf} · in stage: median of the last 90 days`,
      empty: 'No statistics have been read from the service yet.',
    },

    changes: {
      title: 'What changed',
      since: (at: string) => `Since ${at}`,
      kinds: changes,
      total: (n: number, value: string | null) => `${count(n)}${value ? ` · ${value}` : ''}`,
      move: (from: string, to: string) => `${from} → ${to}`,
      empty: (at: string) => `No lead has moved since ${at}.`,
    },

    topLeads: {
      title: 'New top leads',
      lead: 'Lead',
      score: 'Score',
      some: (shown: number, total: number, score: number) =>
        `The best ${count(shown)} of ${count(total)} new leads with a score of ${score} or more`,
      all: (total: number, score: number) =>
        `${plural(total, 'new lead', 'new leads')} with a score of ${score} or more`,
      empty: (score: number) => `No new lead scored ${score} or more.`,
      unread: 'Nothing of this time has been read yet.',
    },

    stalled: {
      title: 'Stalled leads',
      lead: 'Lead',
      stage: 'Stage',
      idle: 'Idle',
      some: (idleDays: number) => `Not moved for ${days(idleDays)} or more, longest first`,
      unread: 'No leads have been read yet.',
      empty: (idleDays: number) => `Every open lead has moved within ${days(idleDays)}.`,
    },

    pipelines: {
      title: 'Pipelines',
      note: (against: string) => `Changes ${against}`,
      noteBehind: (against: string) => `changes ${against}`,
      mostNew: (shown: number, total: number, shape: PeriodShape) =>
        `The ${count(shown)} with most new leads ${{ day: 'that day', days: 'in those days', week: 'that week', month: 'that month' }[shape]}, of ${count(total)}`,
      mostLeads: (shown: number, total: number) => `The ${count(shown)} with most leads, of ${count(total)}`,
      noteWithout: 'In order of name',
      pipeline: 'Pipeline',
      newLeads: 'New',
      won: 'Won',
      winRate: 'Win rate',
      open: (value: string) => `${value} open`,
      stalled: (n: number) => `${count(n)} stalled`,
      empty: 'No pipelines have been read yet.',
    },

    sources: {
      title: 'Sources',
      note: (against: string) => `Most new leads first; changes ${against}`,
      noteWithout: 'Most new leads first',
      source: 'Source',
      unknown: 'Not told',
      empty: 'The leads name no sources.',
    },

    agents: {
      title: 'Agents',
      allHealthy: (n: number) => (n === 1 ? 'The one agent is healthy' : `All ${count(n)} healthy`),
      someHealthy: (well: number, total: number) => `${count(well)} of ${count(total)} healthy`,
      /** Of several agents, within a sentence. */
      state: (status: string) => status.toLowerCase(),
      all: (state: string) => `all ${state}`,
      asOf: (at: string) => `as of ${at}`,
      since: (at: string) => `since ${at}`,
      lastSeen: (at: string) => `last seen ${at}`,
      errors: (n: number) => `${plural(n, 'error', 'errors')} in 24 h`,
      outage: (name: string, from: string, to: string | null, hours: string) =>
        to
          ? `${name} was failing from ${from} to ${to} (${hours}\u00a0h).`
          : `${name} has been failing since ${from} (${hours}\u00a0h).`,
      moreOutages: (n: number) => `and ${plural(n, 'more outage', 'more outages')}`,
      ofLater: (at: string) => `How they were then is not known; they were last read at ${at}.`,
      empty: 'No agents have been read from the service yet.',
    },

    serviceStats: {
      title: 'Service statistics',
      note: 'Where the service counts otherwise than we do',
      figure: 'Figure',
      ours: 'Ours',
      upstream: 'Service',
      figures,
      ofLater: (at: string) => `as of ${at}, not of this period`,
      agree: 'The service counts the same as we do.',
    },

    dataQuality: {
      /** Kinds of records, as the store names them. */
      resources: {
        lead: 'leads',
        agent: 'agents',
        pipeline_stat: 'statistics',
        activity: 'activity',
      } as Record<string, string>,
      title: 'Data quality',
      held: (n: number, resource: string, reason: string) =>
        `${records(n)} of ${resource} held back: ${reason}`,
      appeared: (path: string, at: string) => `The field ${path} is new since ${at}.`,
      vanished: (path: string, at: string) => `The field ${path} is gone since ${at}.`,
      retyped: (path: string, at: string) => `The field ${path} has another type since ${at}.`,
      incomplete: (at: string) => `The reading of ${at} did not come to the end of the list.`,
      unproven: (at: string) => `The list of leads did not hold still while it was read at ${at}.`,
      more: (n: number) => `and ${count(n)} more`,
      good: 'Every record could be read, and no field has come or gone.',
    },

    query: {
      empty: 'No rows.',
      cut: (shown: number) => `The first ${count(shown)} rows`,
    },

    more: {
      some: (n: number) => `and ${count(n)} more`,
      inFile: (n: number, file: string) => `and ${count(n)} more in the attached ${file}`,
      partInFile: (n: number, held: number, file: string) =>
        `and ${count(n)} more, of which ${count(held)} ${held === 1 ? 'is' : 'are'} in the attached ${file}`,
    },

    /** Headings of the lists that go with a mail as files. */
    lists: {
      company: 'Company',
      pipeline: 'Pipeline',
      stage: 'Stage',
      idleDays: 'Days idle',
      score: 'Score',
      value: 'Value',
      currency: 'Currency',
      contact: 'Contact',
      contactTitle: 'Title',
      country: 'Country',
      domain: 'Website',
      about: 'About',
      source: 'Source',
      createdAt: 'Created',
      changedAt: 'Last change',
      id: 'ID',
      link: 'Link',
      change: 'Change',
      fromStage: 'From stage',
      toStage: 'To stage',
      at: 'At',
      leads: 'Leads',
      newLeads: 'New',
      won: 'Won',
      of: (figure: string, period: string) => `${figure}, ${period}`,
      winRate: 'Win rate, 30 days (%)',
      closed: 'Won or lost, 30 days',
      openValue: (currency: string) => `Open pipeline, ${currency || 'no currency'}`,
      stalled: (idleDays: number) => `Stalled for ${days(idleDays)} or more`,
      inZone: (heading: string, zone: string) => `${heading} (${zone})`,
    },

    files: {
      leftOut: (name: string, megabytes: string) =>
        `${name} (${megabytes} MB) is not attached: the mail would be too large. It can be had from the archive.`,
    },

    footer: {
      leads: (n: number) => `${plural(n, 'lead', 'leads')} in this report’s scope`,
      dataAsOf: (at: string | null) => (at ? `Data as of ${at}` : 'No complete sync yet'),
      run: (id: string, requests: number | null) =>
        `complete sync ${id}${requests === null ? '' : ` (${plural(requests, 'request', 'requests')})`}`,
      zone: (name: string) => `times in ${name}`,
      recipient: (address: string, title: string) => `Sent to ${address} as a recipient of “${title}”.`,
      unsubscribe: 'Unsubscribe',
      /** Of the page on which one can do more than that. */
      change: 'Pause, change or unsubscribe',
    },
  }
}
