/** The routes of the pipeline pages. All numbers are counted like those of the reports. */

import { formatDates } from '../../../domain/period.ts'
import type { OutlookReader } from '../../../jobs/outlook.ts'
import type { OverviewKeeper } from '../../../jobs/overview.ts'
import { composePaces, type PaceView } from '../../../report/blocks/pace/view.ts'
import { formatLocalDay, namePeriod } from '../../../report/words/dates.ts'
import { createLocaleContext, type LocaleContext } from '../../../report/words/locale-context.ts'
import type { FigureName } from '../../../store/figures/definition.ts'
import type { Overview } from '../../../store/figures/pipeline-overview.ts'
import { findFigure } from '../../../store/figures/query.ts'
import { readSnapshotInfo } from '../../../store/snapshot/snapshot.ts'
import type { ErrorPageView } from '../../server/frame.ts'
import { type DashboardDeps, frameOf, withInlineCode } from '../../server/frame.ts'
import { type AddRoutes, sendPage } from '../../server/server.ts'
import { type Clock, clockOf, dataAgeOf, LOCALE, type Moment } from '../format.ts'
import { composeList } from './list.ts'
import { composePipeline } from './pipeline.ts'
import { trendDaysOf } from './trend.ts'

interface PipelinesDeps extends DashboardDeps {
  readonly overview: OverviewKeeper
  readonly outlook: OutlookReader
  readonly files: SnapshotFiles
  /** The program's name in commands, such as `leadsheet`. */
  readonly called: string
}

const PATH = '/pipelines'
const UNKNOWN: ErrorPageView = {
  title: 'There is no such pipeline',
  text: withInlineCode(
    'No lead that was read belongs to one of this id. Perhaps the address was cut when it was copied.',
  ),
  next: null,
}

export function pipelinesRoutes(deps: PipelinesDeps): AddRoutes {
  const { pages, overview, outlook, now, timeZone, called, files } = deps
  const list = pages.page('pipelines')
  const one = pages.page('pipeline')
  const unknown = pages.page<ErrorPageView>('error-page')
  const localeOf = ({ now: at }: Clock) => createLocaleContext(LOCALE, timeZone, at.toISOString())
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const kept = await overview.read()
      const clock = clockOf(timeZone, now())
      const counted = kept.overview
      const view = {
        dataAge: dataAgeOf(kept, PATH, clock),
        list: counted && {
          ...periodOf(counted),
          lines: composeList(counted.pipelines),
          meanings: composeMeanings(counted, called, null, clock),
        },
        outlook: counted && composeOutlook(await outlook.read(null), localeOf(clock)),
        analysts: composeAnalysts(files, clock),
      }
      return sendPage(reply, list(view, frameOf(request, 'Pipelines', PATH)))
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
        const view = {
          dataAge: dataAgeOf(kept, request.url, clock),
          one:
            kept.overview === null || found === undefined
              ? null
              : {
                  ...composePipeline(found, trendDaysOf(request.query.days), locale, clock),
                  ...periodOf(kept.overview),
                  outlook: composeOutlook(await outlook.read(id), locale),
                  meanings: composeMeanings(kept.overview, called, id, clock),
                },
        }
        return sendPage(reply, one(view, frameOf(request, view.one?.name ?? 'Pipeline', PATH)))
      },
    )
  }
}

function periodOf({ period, stalledDays }: Overview) {
  return { period: namePeriod(LOCALE, 'since_last', period).short, stalledDays }
}

/** How far goals are and where the month will end, in the words of reports. Shown by `{{> outlook}}`. */
interface OutlookView extends PaceView {
  /** The last day that is counted, such as `20 November`. */
  readonly lastDay: string
}

/** Returns null if there is neither a goal nor an expected end. */
function composeOutlook(
  outlook: Awaited<ReturnType<OutlookReader['read']>>,
  locale: LocaleContext,
): OutlookView | null {
  const [view] = outlook === null ? [] : composePaces(outlook.paces, locale)
  return view === undefined || outlook === null
    ? null
    : { ...view, lastDay: formatLocalDay(locale.tag, outlook.lastDay) }
}

/** The definitions of the figures, shared with reports and commands. Shown by `{{> meanings}}`. */
interface MeaningsView {
  /** The period, such as `2026-10-22 to 2026-11-20`. */
  readonly period: string
  /** The instant of the figures that describe a moment and not a period. */
  readonly asOf: Moment
  readonly figures: readonly { readonly title: string; readonly meaning: string }[]
  /** The command that prints the SQL of a figure. */
  readonly command: string
}

/** The figures in the order of the columns. */
const SHOWN = [
  ...(['leads', 'open', 'open_value', 'stalled', 'new_leads', 'won'] as const),
  ...(['period_conversion', 'win_rate'] as const),
] satisfies readonly FigureName[]

/**
 * @param called the program's name in commands
 * @param pipelineId null for all pipelines
 */
function composeMeanings(
  { asOf, period, stalledDays }: Overview,
  called: string,
  pipelineId: string | null,
  clock: Clock,
): MeaningsView {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: period.timeZone, dateStyle: 'short' })
  const [from, to] = [period.from, period.to].map((at) => day.format(Date.parse(at)))
  const scope = pipelineId === null ? '' : ` --pipeline ${pipelineId}`
  return {
    period: formatDates(period),
    asOf: clock.at(asOf),
    figures: SHOWN.map((name) => {
      const { title, meaning } = findFigure(name)
      return { title, meaning: meaning.replace('`stalled_days`', String(stalledDays)) }
    }),
    command: `${called} figures explain won --from ${from} --to ${to}${scope}`,
  }
}

/** The snapshot for analysts, and Datasette's settings for it. */
interface SnapshotFiles {
  readonly snapshot: string
  readonly metadata: string
}

/**
 * The command that opens the snapshot in Datasette, to see single leads. The template `{{> analysts}}` shows
 * it.
 */
interface AnalystsView {
  readonly file: string
  readonly command: string
  /** The time at which the snapshot was made; null if there is no snapshot yet. */
  readonly madeAt: Moment | null
}

export function composeAnalysts({ snapshot, metadata }: SnapshotFiles, clock: Clock): AnalystsView {
  const info = readSnapshotInfo(snapshot)
  return {
    file: snapshot,
    command: `datasette ${quoted(snapshot)} -m ${quoted(metadata)}`,
    madeAt: info && clock.at(info.madeAt),
  }
}

/** Quotes a path for a shell. */
function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
