/**
 * The words of the reports, all of them; a second language is a second object of this shape. Values arrive as
 * ready strings, counts as numbers where the grammar needs them.
 */
import { formatCount } from './format.ts'

const plural = (count: number, one: string, many: string) =>
  `${formatCount(count)} ${count === 1 ? one : many}`
const list = new Intl.ListFormat('en-GB', { type: 'conjunction' })

export const words = {
  lang: 'en',
  dir: 'ltr',
  isNew: 'new',
  noChange: 'no change',
  points: (size: string) => `${size} pt`,
  none: '–',
  and: (parts: readonly string[]) => list.format(parts),
  pipelines: (count: number) => plural(count, 'pipeline', 'pipelines'),
  noPipelines: 'No pipelines yet',
  comparedWith: (day: string) => `compared with ${day}`,
  agent: (count: number) => plural(count, 'agent', 'agents'),

  subject: {
    newLeads: (count: number, percent: string | null) =>
      `${formatCount(count)} new${percent ? ` (${percent})` : ''}`,
    won: (count: number) => `${formatCount(count)} won`,
    failing: (count: number) => `${plural(count, 'agent', 'agents')} failing`,
    quiet: 'quiet day, nothing new',
    incomplete: (newLeads: number, won: number) =>
      `incomplete data, ${formatCount(newLeads)} new and ${formatCount(won)} won so far`,
    noData: (since: string | null) => (since ? `no data since ${since}` : 'no data yet'),
    empty: 'no leads yet',
  },

  headline: {
    counts: (newLeads: number, won: number) =>
      `${newLeads === 0 ? 'No new leads' : plural(newLeads, 'new lead', 'new leads')} and ${won === 0 ? 'none' : formatCount(won)} won`,
    better: (weekday: string) => `a better day than the ${weekday} before`,
    slower: (weekday: string) => `a slower day than the ${weekday} before`,
    moreLeads: (weekday: string) => `more leads but fewer wins than the ${weekday} before`,
    fewerLeads: (weekday: string) => `fewer leads but more wins than the ${weekday} before`,
    same: (weekday: string) => `much as on the ${weekday} before`,
    verdict: (counts: string, verdict: string, newLeads: string, won: string) =>
      `${counts}: ${verdict} (${newLeads} and ${won}).`,
    first: (counts: string) => `${counts}.`,
    firstDetail: 'These are the first figures; there is nothing yet to compare them with.',
    quiet: (weekday: string) => `A quiet ${weekday}: no new leads and nothing won.`,
    quietBefore: (weekday: string, newLeads: number, won: number) =>
      `The ${weekday} before brought ${plural(newLeads, 'new lead', 'new leads')} and ${won === 0 ? 'no wins' : plural(won, 'win', 'wins')}.`,
    incomplete: (newLeads: number, won: number) =>
      `Incomplete: at least ${plural(newLeads, 'new lead', 'new leads')} and ${formatCount(won)} won.`,
    noData: (weekday: string, since: string | null) =>
      since ? `No data for ${weekday}: the last complete sync was ${since}.` : 'No data yet.',
    empty: 'No leads yet: the service has listed none.',
    allWell: 'Nothing needs attention.',
  },

  freshness: {
    fresh: (at: string, age: string) => `Data as of ${at}, ${age} before this report.`,
    coveredThenFailed: (at: string, weekday: string) => `Data as of ${at}, which covers all of ${weekday}.`,
    ends: (at: string, age: string) =>
      `The data ends ${at}, ${age} before this report; what came after is missing below.`,
    before: (at: string, age: string) =>
      `The data is from ${at}, ${age} before this report; everything below shows the state of that time.`,
    never: 'No sync has read everything yet. What stands below is only what has been read so far.',
    failed: (at: string, message: string) => `The sync at ${at} did not finish: ${message}`,
  },

  attention: {
    title: 'Needs attention',
    failing: (name: string, since: string | null, error: string | null) =>
      `${name} ${since ? `has been failing since ${since}` : 'is failing'}${error ? ` (${error})` : ''}.`,
    moreFailing: (count: number) => `${plural(count, 'more agent is', 'more agents are')} failing.`,
    stalled: (count: number, days: number, company: string | null, idle: string) =>
      `${plural(count, 'lead has', 'leads have')} had no activity for ${plural(days, 'day', 'days')} or more${
        company ? `; the longest is ${company}, ${idle}.` : '.'
      }`,
    held: (count: number) =>
      `${plural(count, 'record', 'records')} from the service could not be read and ${count === 1 ? 'waits' : 'wait'} in held_row.`,
  },

  kpi: {
    newLeads: 'New leads',
    won: 'Won',
    winRate: 'Win rate, 30 days',
    openValue: 'Open pipeline',
    inAll: (count: number) => `${formatCount(count)} in all`,
    worth: (value: string) => `worth ${value}`,
    wonOfClosed: (counts: string) => `${counts} closed`,
    closedWon: 'of closed leads won',
    noneClosed: 'none closed',
    noValues: 'no values given',
    nothing: 'none',
    inCurrency: (currency: string) => `in ${currency}`,
    soFar: 'so far',
    soFarWorth: (value: string) => `so far, worth ${value}`,
    basis: (value: string, date: string) => `vs ${value} on ${date}`,
  },

  funnel: {
    title: 'Funnel',
    stage: 'Stage',
    reached: 'Reached',
    conversion: 'From prior',
    source: (asOf: string) => `As the service counts it, all time · as of ${asOf}`,
    empty: 'No statistics have been read from the service yet.',
  },

  topLeads: {
    title: 'New top leads',
    lead: 'Lead',
    score: 'Score',
    some: (shown: number, total: number, score: number) =>
      `The best ${formatCount(shown)} of ${formatCount(total)} new leads with a score of ${score} or more`,
    all: (total: number, score: number) =>
      `${plural(total, 'new lead', 'new leads')} with a score of ${score} or more`,
    empty: (score: number) => `No new lead scored ${score} or more.`,
    unread: 'Nothing of this day has been read yet.',
  },

  stalled: {
    title: 'Stalled leads',
    lead: 'Lead',
    stage: 'Stage',
    idle: 'Idle',
    some: (days: number) => `No activity for ${plural(days, 'day', 'days')} or more, longest first`,
    more: (count: number) => `and ${formatCount(count)} more in the database`,
    unread: 'No leads have been read yet.',
    empty: (days: number) => `No open lead has been without activity for ${plural(days, 'day', 'days')}.`,
    days: (count: number) => plural(count, 'day', 'days'),
  },

  agents: {
    title: 'Agents',
    allHealthy: (count: number) =>
      count === 1 ? 'The one agent is healthy' : `All ${formatCount(count)} healthy`,
    someHealthy: (well: number, total: number) => `${formatCount(well)} of ${formatCount(total)} healthy`,
    all: (state: string) => `all ${state}`,
    asOf: (at: string) => `as of ${at}`,
    since: (at: string) => `since ${at}`,
    lastSeen: (at: string) => `last seen ${at}`,
    errors: (count: number) => `${plural(count, 'error', 'errors')} in 24 h`,
    more: (count: number) => `and ${formatCount(count)} more in the database`,
    empty: 'No agents have been read from the service yet.',
  },

  footer: {
    leads: (count: number) => `${plural(count, 'lead', 'leads')} in the database`,
    dataAsOf: (at: string | null) => (at ? `Data as of ${at}` : 'No complete sync yet'),
    run: (id: string, requests: number | null) =>
      `sync ${id}${requests === null ? '' : ` (${plural(requests, 'request', 'requests')})`}`,
    zone: (name: string) => `times in ${name}`,
    recipient: (address: string, title: string) => `Sent to ${address} as a recipient of “${title}”.`,
  },
} as const
