/** The data quality block shows quarantined records, changed fields and a last scan that was incomplete. */
import type { ReportFigures } from '../../../domain/figures.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'

const ITEMS = 6
const REASON_LENGTH = 100
const PATH_LENGTH = 60

/** Returns no view if all records could be read and no field has changed. */
export function composeDataQuality({ dataQuality }: ReportFigures, locale: LocaleContext) {
  const { words, dates } = locale
  const { quarantined, drift, lastScan } = dataQuality
  const all = [
    ...(lastScan && lastScan.result !== 'complete'
      ? [words(`data_quality.${lastScan.result}`, { at: dates.recent(lastScan.at) })]
      : []),
    ...quarantined.map(({ records, resource, reason }) =>
      words('data_quality.quarantined', {
        n: records,
        resource: nameResource(resource, locale),
        reason: oneLine(reason, REASON_LENGTH),
      }),
    ),
    ...drift.map(({ change, path, at }) =>
      words(`data_quality.${change}`, { path: oneLine(path, PATH_LENGTH), at: dates.recent(at) }),
    ),
  ]
  if (all.length === 0) return []
  return [
    {
      kind: 'data_quality' as const,
      title: words('data_quality.title'),
      items:
        all.length > ITEMS
          ? [...all.slice(0, ITEMS), words('data_quality.more', { n: all.length - ITEMS })]
          : all,
    },
  ]
}

function nameResource(resource: string, { words }: LocaleContext): string {
  return words('data_quality.resource', {
    resource,
    label: oneLine(resource.replaceAll('_', ' '), PATH_LENGTH),
  })
}
