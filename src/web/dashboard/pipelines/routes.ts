/** The routes of the pipeline pages. Their numbers are counted in the same way as in reports. */

import type { Funnel } from '../../../domain/figures.ts'
import { type Annotation, isAbout } from '../../../domain/insight.ts'
import { formatDates } from '../../../domain/period.ts'
import type { OutlookReader, OverviewKeeper } from '../../../jobs/overview.ts'
import { writeDays } from '../../../report/blocks/funnel/view.ts'
import { composePace } from '../../../report/blocks/pace/view.ts'
import { writeStat } from '../../../report/blocks/service-stats/view.ts'
import { composeHistory } from '../../../report/context.ts'
import { capitalise } from '../../../report/words/clean-text.ts'
import { formatLocalDay, namePeriod } from '../../../report/words/dates.ts'
import type { LocaleContext } from '../../../report/words/locale-context.ts'
import { createLocaleContext, nameStatus } from '../../../report/words/locale-context.ts'
import { signed } from '../../../report/words/numbers.ts'
import { dateOf, localDay } from '../../../schedule/zone.ts'
import type { FigureName } from '../../../store/figures/definition.ts'
import type { Overview, PipelineOverview } from '../../../store/figures/pipeline-overview.ts'
import { findFigure } from '../../../store/figures/query.ts'
import type { StatPair } from '../../../store/figures/service-stats.ts'
import { listAnnotations } from '../../../store/insight/annotation.ts'
import { readSnapshotInfo } from '../../../store/snapshot/snapshot.ts'
import type { Clock } from '../../server/format.ts'
import { clockOf, dataAgeOf, LOCALE, NONE, nameOf, share } from '../../server/format.ts'
import type { DashboardDeps } from '../../server/frame.ts'
import { frameOf } from '../../server/frame.ts'
import type { AddRoutes } from '../../server/server.ts'
import { sendPage } from '../../server/server.ts'
import type { TrendDays } from './view.ts'
import { cellsOf, composeList, composeTrend, trendDaysOf } from './view.ts'

interface PipelinesDeps extends DashboardDeps {
  readonly overview: OverviewKeeper
  readonly outlook: OutlookReader
  readonly files: SnapshotFiles
  readonly called: string
}

const PATH = '/pipelines'
const UNKNOWN = {
  title: 'There is no such pipeline',
  text: 'No lead that was read belongs to one of this id. Perhaps the address was cut when it was copied.',
  next: null,
}

export function pipelinesRoutes(deps: PipelinesDeps): AddRoutes {
  const { store, pages, overview, outlook, now, timeZone, called, files } = deps
  const list = pages.page('pipelines')
  const one = pages.page('pipeline')
  const unknown = pages.page('error-page')
  const localeOf = ({ now: at }: Clock) => createLocaleContext(LOCALE, timeZone, at.toISOString())
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const kept = await overview.read()
      const clock = clockOf(timeZone, now())
      const counted = kept.overview
      const insight = counted && (await outlook.read(null))
      const view = {
        dataAge: dataAgeOf(kept, PATH),
        list: counted && {
          ...periodOf(counted),
          lines: composeList(counted.pipelines, insight?.winRates ?? []),
          meanings: composeMeanings(counted, called, null),
        },
        outlook: composeOutlook(insight, localeOf(clock)),
        analysts: composeAnalysts(files),
      }
      return sendPage(reply, list(view, frameOf(request, 'Pipelines', PATH), clock))
    })

    app.get<{ Params: { id: string }; Querystring: { days?: unknown } }>(
      `${PATH}/:id`,
      async (request, reply) => {
        const { id } = request.params
        const kept = await overview.read()
        const found = kept.overview?.pipelines.find((pipeline) => pipeline.id === id)
        if (kept.overview !== null && found === undefined) {
          return sendPage(reply.code(404), unknown(UNKNOWN, frameOf(request, UNKNOWN.title, PATH)))
        }
        const clock = clockOf(timeZone, now())
        const locale = localeOf(clock)
        const annotations = await listAnnotations(store.db)
        const insight = await outlook.read(id)
        const view = {
          dataAge: dataAgeOf(kept, request.url),
          one:
            kept.overview === null || found === undefined
              ? null
              : {
                  ...cellsOf(found, insight?.winRates[0]),
                  ...composePipeline(found, trendDaysOf(request.query.days), locale, annotations),
                  ...periodOf(kept.overview),
                  outlook: composeOutlook(insight, locale),
                  meanings: composeMeanings(kept.overview, called, id),
                },
        }
        return sendPage(reply, one(view, frameOf(request, view.one?.name ?? 'Pipeline', PATH), clock))
      },
    )
  }
}

function periodOf({ period, stalledDays }: Overview) {
  return { period: namePeriod(LOCALE, 'since_last', period).short, stalledDays }
}

/** Shown by the template `{{> outlook}}`; null if there is neither a goal nor an expected result. */
function composeOutlook(outlook: Awaited<ReturnType<OutlookReader['read']>>, locale: LocaleContext) {
  const [view] = outlook === null ? [] : composePace(outlook.paces, locale)
  return view === undefined || outlook === null
    ? null
    : { ...view, lastDay: formatLocalDay(locale.tag, outlook.lastDay) }
}

/** The figures in the order of the table's columns. */
const SHOWN = [
  ...(['leads', 'open', 'open_value', 'stalled', 'new_leads', 'won'] as const),
  ...(['period_conversion', 'win_rate'] as const),
] satisfies readonly FigureName[]

/** Shown by the template `{{> meanings}}`, for one pipeline or, if null, for all. */
function composeMeanings({ asOf, period, stalledDays }: Overview, called: string, pipelineId: string | null) {
  const [from, to] = [period.from, period.to].map((at) => dateOf(localDay(Date.parse(at), period.timeZone)))
  const scope = pipelineId === null ? '' : ` --pipeline ${pipelineId}`
  return {
    period: formatDates(period),
    asOf,
    figures: SHOWN.map((name) => {
      const { title, meaning } = findFigure(name)
      return { title, meaning: meaning.replace('`stalled_days`', String(stalledDays)) }
    }),
    command: `${called} figures won --from ${from} --to ${to}${scope}`,
  }
}

/** The paths of the snapshot (a copy of the data for analysts) and of Datasette's settings for it. */
interface SnapshotFiles {
  readonly snapshot: string
  readonly metadata: string
}

/** Returns the command that opens the snapshot in the program Datasette, where users can see single leads. */
export function composeAnalysts({ snapshot, metadata }: SnapshotFiles) {
  return {
    file: snapshot,
    command: `datasette ${quoted(snapshot)} -m ${quoted(metadata)}`,
    /** The time at which the snapshot was made; null if there is no snapshot yet. */
    madeAt: readSnapshotInfo(snapshot)?.madeAt ?? null,
  }
}

/** Quotes a path for a shell if necessary. */
function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

/** The page of one pipeline, with a comparison of the upstream's statistics with our own figures. */

function composePipeline(
  pipeline: PipelineOverview,
  days: TrendDays,
  locale: LocaleContext,
  annotations: readonly Annotation[],
) {
  const { id, name, status, trend, funnel, statistics } = pipeline
  // The chart shows only this pipeline, so the notes in it do not name the pipeline.
  const notes = annotations.filter((each) => isAbout(each, [id])).map((each) => ({ ...each, pipeline: null }))
  return {
    id,
    name: nameOf(name),
    status: status === null ? '' : capitalise(status),
    trend: composeTrend(trend, days, `/pipelines/${encodeURIComponent(id)}`, locale, notes),
    funnel: composeFunnel(funnel, locale),
    statistics: composeStatistics(statistics, locale),
  }
}

function composeFunnel({ source, asOf, stages: all, coverage, daysCoverage }: Funnel, locale: LocaleContext) {
  const history = coverage === null ? null : composeHistory(coverage, locale)
  const stages = history?.isShown === false ? [] : all
  const ofDays = composeHistory(daysCoverage, locale)
  const most = Math.max(1, ...stages.map(({ reached }) => reached))
  return {
    isOurs: source === 'ours',
    /** For how many leads the history is known; empty if for all. If for too few, the stages are left out. */
    known: history?.note ?? '',
    asOf,
    /** For how many leads the days in the stages are known; empty if for all. */
    daysKnown: ofDays.isShown ? ofDays.note : `not shown, ${ofDays.note}`,
    stages: stages.map(({ status, reached, medianDays }, index) => {
      const before = stages[index - 1]
      return {
        name: nameStatus(status, locale),
        reached,
        conversion: before === undefined ? NONE : share({ part: reached, whole: before.reached }),
        days: medianDays === null || !ofDays.isShown ? NONE : writeDays(medianDays, locale),
        // The bar is at least 1 % wide, so that a stage with any leads has a visible bar.
        bar: reached === 0 ? '0' : String(Math.max(1, Math.round((100 * reached) / most))),
      }
    }),
  }
}

function composeStatistics(pairs: readonly StatPair[], locale: LocaleContext) {
  return {
    /** The time at which the upstream's statistics were read; null if none have been read. */
    asOf: pairs[0]?.asOf ?? null,
    isSame: pairs.every(({ isSame }) => isSame),
    rows: pairs.map((pair) => ({
      figure: locale.words(`service_stats.figures.${pair.figure}`),
      ours: writeStat(pair, pair.ours, locale),
      upstream: writeStat(pair, pair.upstream, locale),
      difference: pair.isSame
        ? ''
        : signed(pair.upstream - pair.ours, (size) => writeStat(pair, size, locale)),
    })),
  }
}
