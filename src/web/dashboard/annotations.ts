/** The annotations page: a list of the operators' notes about days, and a form to add a note. */
import { ANNOTATION_TEXT_MAX, type Annotation } from '../../domain/insight.ts'
import { dayBefore, localDates } from '../../domain/period.ts'
import { formatLocalDays } from '../../report/words/dates.ts'
import { listPipelines } from '../../store/figures/report-figures.ts'
import { listAnnotations } from '../../store/insight/annotation.ts'
import { clockOf, LOCALE, nameOf } from '../server/format.ts'
import { type DashboardDeps, frameOf } from '../server/frame.ts'
import { type AddRoutes, sendPage } from '../server/server.ts'
import { ACTION_PATHS, button } from './actions/buttons.ts'

const PATH = '/annotations'

export function annotationsRoutes({ store, pages, now, timeZone }: DashboardDeps): AddRoutes {
  const page = pages.page('annotations')
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const pipelines = await listPipelines(store.db)
      const names = new Map(pipelines.map(({ id, name }) => [id, nameOf(name)]))
      const clock = clockOf(timeZone, now())
      const view = {
        path: ACTION_PATHS.annotate,
        textMax: ANNOTATION_TEXT_MAX,
        // The form suggests yesterday, because most notes are about the last day that a report covers.
        day: localDates(dayBefore(now(), timeZone)),
        pipelines: pipelines.map(({ id, name }) => ({ id, name: nameOf(name) })),
        rows: (await listAnnotations(store.db)).toReversed().map((each) => ({
          ...each,
          days: daysOf(each),
          of: each.pipelineId === null ? 'all leads' : (names.get(each.pipelineId) ?? each.pipelineId),
          remove: button('removeAnnotation', 'Remove', `${daysOf(each)}: ${each.text}`, {
            annotation: String(each.id),
          }),
        })),
      }
      return sendPage(reply, page(view, frameOf(request, 'Annotations', PATH), clock))
    })
  }
}

/** Writes the days with their year, such as `13 Nov 2026`. */
function daysOf({ firstDay, lastDay }: Annotation): string {
  return `${formatLocalDays(LOCALE, firstDay, lastDay)} ${lastDay.slice(0, 4)}`
}
