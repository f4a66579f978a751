/** The pipelines side by side, and each by itself. Every number is counted as in the reports. */
import type { OverviewKeeper } from '../../jobs/overview.ts'
import { namePeriod } from '../../report/dates.ts'
import { createVoice } from '../../report/voice.ts'
import type { Overview } from '../../store/figures/pipeline-overview.ts'
import type { RefusalView } from '../refusal.ts'
import { type AddRoutes, sendPage } from '../server.ts'
import { type AnalystsView, composeAnalysts, type SnapshotFiles } from './analysts.ts'
import { type CountingView, countingOf } from './counting.ts'
import { frameOf } from './frame.ts'
import { clockOf } from './moment.ts'
import { LOCALE } from './numbers.ts'
import { composeList, type PipelineLine } from './pipelines/list.ts'
import { composeMeanings, type MeaningsView } from './pipelines/meanings.ts'
import { composePipeline, type PipelineView } from './pipelines/one.ts'
import { trendDaysOf } from './pipelines/trend.ts'
import { said } from './said.ts'
import type { WindowDeps } from './window.ts'

export interface PipelinesDeps extends WindowDeps {
  readonly overview: OverviewKeeper
  readonly files: SnapshotFiles
  /** How a command of the program is written: `leadsheet`. */
  readonly called: string
}

interface PipelinesPage {
  readonly counting: CountingView
  /** Null where nothing is counted yet. */
  readonly list: {
    readonly period: string
    readonly stalledDays: number
    readonly lines: readonly PipelineLine[]
    readonly meanings: MeaningsView
  } | null
  readonly analysts: AnalystsView
}

interface PipelinePage {
  readonly counting: CountingView
  readonly one:
    | (PipelineView & {
        readonly period: string
        readonly stalledDays: number
        readonly meanings: MeaningsView
      })
    | null
}

const PATH = '/pipelines'
const UNKNOWN: RefusalView = {
  title: 'There is no such pipeline',
  text: said(
    'No lead that was read belongs to one of this id. Perhaps the address was cut when it was copied.',
  ),
  next: null,
}

export function pipelinesRoutes(deps: PipelinesDeps): AddRoutes {
  const { pages, overview, now, timeZone, called, files } = deps
  const list = pages.page<PipelinesPage>('pipelines')
  const one = pages.page<PipelinePage>('pipeline')
  const unknown = pages.page<RefusalView>('refusal')
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const kept = await overview.read()
      const clock = clockOf(timeZone, now())
      const counted = kept.overview
      const view = {
        counting: countingOf(kept, PATH, clock),
        list: counted && {
          ...periodOf(counted),
          lines: composeList(counted.pipelines),
          meanings: composeMeanings(counted, called, null, clock),
        },
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
        const voice = createVoice(LOCALE, timeZone, clock.now.toISOString())
        const view = {
          counting: countingOf(kept, request.url, clock),
          one:
            kept.overview === null || found === undefined
              ? null
              : {
                  ...composePipeline(found, trendDaysOf(request.query.days), voice, clock),
                  ...periodOf(kept.overview),
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
