/** The record page: how often the ranges that sent reports printed held the number that came. */
import {
  isRecordTrusted,
  listCountedDates,
  meantOf,
  readTrackRecord,
  type TrackRecord,
} from '../../jobs/insight/track-record.ts'
import type { Db } from '../../store/db/store.ts'
import { listNames } from '../../store/insight/daily-count.ts'
import { findLastCompleteRun } from '../../store/sync/sync-run.ts'
import { count, NONE } from '../server/format.ts'
import { type DashboardDeps, frameOf } from '../server/frame.ts'
import { type AddRoutes, sendPage } from '../server/server.ts'

const PATH = '/record'
const FIGURES = {
  new_leads: 'New leads',
  won: 'Won',
  lost: 'Lost',
  win_rate: 'Win rate',
} as const

export function recordRoutes({ pages, store, timeZone }: DashboardDeps): AddRoutes {
  const page = pages.page('record')
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const records = await readRecords(store.db, timeZone)
      const view = { published: composeRecords(records, await listNames(store.db)) }
      return sendPage(reply, page(view, frameOf(request, 'Record', PATH)))
    })
  }
}

async function readRecords(db: Db, timeZone: string): Promise<TrackRecord['records']> {
  const whole = await findLastCompleteRun(db)
  if (whole === undefined) return []
  return (await readTrackRecord(db, timeZone, await listCountedDates(db, whole.asOf, timeZone))).records
}

function composeRecords(records: TrackRecord['records'], names: ReadonlyMap<string, string>) {
  return records.map((each) => ({
    name: [FIGURES[each.figure], ...(each.pipelineIds?.map((id) => names.get(id) ?? id) ?? ['all'])].join(
      ', ',
    ),
    kind: each.kind.replaceAll('_', ' '),
    ranges: count(each.of),
    hits: count(each.hits),
    share: percent(each.hits, each.of),
    meant: `${100 * meantOf(each.kind)}%`,
    isWithheld: !isRecordTrusted(each),
  }))
}

/** Formats a share as `93.4%`; a dash if the whole is 0. */
function percent(part: number, whole: number): string {
  return whole === 0 ? NONE : `${((100 * part) / whole).toFixed(1)}%`
}
