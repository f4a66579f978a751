/** What is odd in the data: records held back, fields that came or went, lists that could not be read to the end. */
import type { ReportFigures } from '../../../domain/figures.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { Voice } from '../../words/locale-context.ts'

const ITEMS = 6
const REASON_LENGTH = 100
const PATH_LENGTH = 60

export interface DataQualityView {
  readonly kind: 'data_quality'
  readonly title: string
  /** Says that all is well, where it is; empty otherwise. */
  readonly note: string
  readonly items: readonly string[]
}

export function composeDataQuality({ dataQuality }: ReportFigures, voice: Voice): DataQualityView {
  const { words, dates } = voice
  const { held, drift, lastScan } = dataQuality
  const say = {
    new: words.dataQuality.appeared,
    vanished: words.dataQuality.vanished,
    retyped: words.dataQuality.retyped,
  }
  const all = [
    ...(lastScan && lastScan.verdict !== 'complete'
      ? [words.dataQuality[lastScan.verdict](dates.recent(lastScan.at))]
      : []),
    ...held.map(({ records, resource, reason }) =>
      words.dataQuality.held(records, nameResource(resource, voice), oneLine(reason, REASON_LENGTH)),
    ),
    ...drift.map(({ change, path, at }) => say[change](oneLine(path, PATH_LENGTH), dates.recent(at))),
  ]
  return {
    kind: 'data_quality',
    title: words.dataQuality.title,
    note: all.length === 0 ? words.dataQuality.good : '',
    items: all.length > ITEMS ? [...all.slice(0, ITEMS), words.dataQuality.more(all.length - ITEMS)] : all,
  }
}

function nameResource(resource: string, { words }: Voice): string {
  const { resources } = words.dataQuality
  const known = Object.hasOwn(resources, resource) ? resources[resource] : undefined
  return known ?? oneLine(resource.replaceAll('_', ' '), PATH_LENGTH)
}
