/** The goals of speed, size and memory: one table, which the bench judges and docs/explanation/performance.md shows. */

export const SUBJECTS = [
  ...['first', 'unchanged', 'changed', 'incremental', 'growth', 'memory', 'slow', 'figures', 'mails'],
  ...['loop', 'burst', 'start', 'size', 'snapshot', 'postgres'],
] as const
export type Subject = (typeof SUBJECTS)[number]

export interface Goal {
  readonly name: string
  readonly subject: Subject
  readonly title: string
  /** The steps that are measured, by their names in the parts. */
  readonly of: string
  /** The steps for comparison. The best of several counts. */
  readonly against: readonly string[]
  /**
   * `share`: ours divided by theirs. `speed`: theirs divided by ours. `growth`: the time of a lead among the
   * most leads, divided by that among the fewest.
   */
  readonly as: 'share' | 'speed' | 'growth' | 'value'
  readonly kinds: readonly ('cpu' | 'wall')[] | null
  readonly at: 'most' | 'least'
  readonly limit: number
  readonly unit: string
  /** The measured numbers of leads that the goal is about. */
  readonly leads: 'each' | 'largest' | 'smallest'
}

const BOTH = ['cpu', 'wall'] as const
const FLOORS = ['floor-prepared first', 'floor-jsonb first']

type Named = Pick<Goal, 'name' | 'subject' | 'title'>

/** Makes a goal: at most so many times the time of the others. */
function share(
  named: Named,
  of: string,
  against: readonly string[],
  limit: number,
  change: Partial<Goal> = {},
): Goal {
  const rest = { as: 'share', kinds: BOTH, at: 'most', unit: '×', leads: 'each' } as const
  return { ...named, of, against, limit, ...rest, ...change }
}

/** Makes a goal: at least so many times as fast as the others. */
function speed(named: Named, of: string, against: string, limit: number, change: Partial<Goal> = {}): Goal {
  return share(named, of, [against], limit, { as: 'speed', at: 'least', ...change })
}

/** Makes a goal: at most so much of a unit. */
function value(named: Named, of: string, limit: number, unit: string, change: Partial<Goal> = {}): Goal {
  const rest = { against: [], as: 'value', kinds: null, at: 'most', leads: 'largest' } as const
  return { ...named, of, limit, unit, ...rest, ...change }
}

/** Names a goal. The subject of `first-floor` is `first` unless another is given. */
function named(name: string, title: string, subject: string = name.split('-')[0] ?? ''): Named {
  const found = SUBJECTS.find((known) => known === subject)
  if (found === undefined)
    throw new Error(`${name}: found ${subject}, expected one of ${SUBJECTS.join(', ')}`)
  return { name, title, subject: found }
}

const WALL = { kinds: ['wall'] } as const
const TIMES = { kinds: BOTH } as const
const CPU = { kinds: ['cpu'] } as const
const SMALLEST = { leads: 'smallest' } as const

export const GOALS: readonly Goal[] = [
  share(named('first-floor', 'First sync against the floor'), 'ours first', FLOORS, 1.5),
  speed(named('first-node', 'First sync against the Node script'), 'ours first', 'plain-batches first', 2.5),
  speed(named('first-python', 'First sync against the Python script'), 'ours first', 'python first', 2.5),
  speed(named('first-dlt', 'First sync against dlt'), 'ours first', 'dlt first', 20, SMALLEST),
  share(
    named('unchanged-parse', 'Nothing changed, against fetch and parse'),
    'ours unchanged',
    ['fetch and parse'],
    1.5,
  ),
  speed(
    named('unchanged-node', 'Nothing changed, against the Node script'),
    'ours unchanged',
    'plain-batches unchanged',
    8,
  ),
  speed(
    named('unchanged-python', 'Nothing changed, against the Python script'),
    'ours unchanged',
    'python unchanged',
    8,
  ),
  share(named('changed', '1 % changed, against nothing changed'), 'ours changed', ['ours unchanged'], 1.5),
  value(named('changed-lead', 'One changed lead in a full sync'), 'changed lead', 80, 'µs', {
    ...CPU,
    leads: 'each',
  }),
  share(
    named('incremental', 'Changes alone, against everything read again'),
    'ours incremental',
    ['ours unchanged'],
    0.1,
    { leads: 'largest' },
  ),
  value(named('growth-first', 'First sync, a lead among the most against the fewest'), 'ours first', 1, '×', {
    as: 'growth',
    kinds: BOTH,
  }),
  value(named('growth-unchanged', 'Nothing changed, the same'), 'ours unchanged', 1, '×', {
    as: 'growth',
    kinds: BOTH,
  }),
  value(named('memory', 'Most memory of the process'), 'memory', 350, 'MB'),
  speed(
    named('slow-numbered', 'Slow upstream, numbered pages, against one after another'),
    'slow numbered first',
    'slow plain first',
    4.5,
    { ...WALL, ...SMALLEST },
  ),
  speed(
    named('slow-numbered-unchanged', 'The same, nothing changed'),
    'slow numbered unchanged',
    'slow plain unchanged',
    4.5,
    { ...WALL, ...SMALLEST },
  ),
  share(
    named('slow-cursor', 'Slow upstream, cursors, against the fetches alone'),
    'slow cursor first',
    ['slow fetches alone'],
    1.05,
    { ...WALL, ...SMALLEST },
  ),
  share(
    named('slow-cursor-unchanged', 'The same, nothing changed'),
    'slow cursor unchanged',
    ['slow fetches alone'],
    1.05,
    { ...WALL, ...SMALLEST },
  ),
  value(named('figures-daily', 'Figures of the daily report'), 'figures daily', 400, 'ms', TIMES),
  value(named('figures-year-ago', 'Figures of a day a year ago'), 'figures year ago', 1000, 'ms', TIMES),
  value(named('figures-weekly', 'Figures of the weekly report'), 'figures weekly', 1000, 'ms', TIMES),
  value(named('figures-monthly', 'Figures of the monthly report'), 'figures monthly', 1000, 'ms', TIMES),
  value(named('mails', '1,000 mails with 50 filters, delivered'), 'mails', 30, 's', { ...WALL, ...SMALLEST }),
  ...['first', 'unchanged', 'changed', 'incremental'].flatMap((sync) => [
    value(named(`loop-${sync}-p99`, `Event loop, ${sync} sync, p99`), `loop ${sync} p99`, 20, 'ms'),
    value(named(`loop-${sync}-max`, `Event loop, ${sync} sync, most`), `loop ${sync} max`, 100, 'ms'),
  ]),
  value(named('burst-idle', '10,000 events, p99'), 'burst idle', 50, 'ms', SMALLEST),
  value(named('burst-syncing', '10,000 events while a sync runs, p99'), 'burst syncing', 50, 'ms', SMALLEST),
  value(named('start-version', '`--version` over bare Node'), 'start version', 100, 'ms', {
    kinds: BOTH,
    ...SMALLEST,
  }),
  value(named('start-sync', '`sync` of nothing new over bare Node'), 'start sync', 400, 'ms', {
    kinds: BOTH,
    ...SMALLEST,
  }),
  value(named('size-installed', 'Packages without Node'), 'size installed', 110, 'MB', SMALLEST),
  value(named('size-direct', 'Direct dependencies'), 'size direct', 24, '', SMALLEST),
  value(named('snapshot', 'Snapshot of all leads'), 'snapshot', 15_000, 'ms', CPU),
  share(
    named('postgres-first', 'PostgreSQL against SQLite, first sync'),
    'postgres first',
    ['sqlite first'],
    2.5,
    SMALLEST,
  ),
  share(
    named('postgres-unchanged', 'PostgreSQL against SQLite, nothing changed'),
    'postgres unchanged',
    ['sqlite unchanged'],
    2.5,
    SMALLEST,
  ),
]
