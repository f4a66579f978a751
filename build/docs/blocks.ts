/**
 * Generates the page on report blocks. For each block, the page lists the variables of the block's template,
 * found from sample figures.
 */

import { BLOCKS } from '../../src/domain/choices.ts'
import type { ReportFigures } from '../../src/domain/figures.ts'
import { periodOf, priorOf } from '../../src/domain/period.ts'
import { blockOf, composeBlockViews } from '../../src/report/blocks/registry.ts'
import type { BlockContext } from '../../src/report/context.ts'
import { emptyFigures, sampleFigures, sampleTable } from '../../src/report/sample.ts'
import { createLocaleContext } from '../../src/report/words/locale-context.ts'
import { code, fenced, page, table } from './markdown.ts'
import { printFields, type Shape, shapeOf } from './shapes.ts'

const NOW = new Date('2026-11-18T07:00:00Z')

export function blocksPage(): string {
  return page(
    'Report blocks',
    'The parts of a report, in their default order. `blocks` in the settings or in `report.yaml` selects the blocks of a report. A block that has nothing to say is left out.',
    table(
      ['Block', 'What it tells'],
      BLOCKS.map((name) => [code(name), blockOf(name).meaning]),
    ),
    `${namesOf('conjunction', ({ isAlwaysShown }) => isAlwaysShown === true)} are always shown, all others once all leads were read. If ${namesOf('disjunction', ({ isCore }) => isCore === true)} fails, the report is not sent. If another block fails, the report says so.`,
    `These can be [attached](../how-to/goals-annotations-attachments.md#attach-files): ${namesOf('conjunction', ({ list }) => list !== undefined)}.`,
    '## Variables',
    'The template of a block gets these variables, and `kind`, the name of the block. A variable without a type is a text, ready to print in the locale of the recipient; `[]` marks a list. [Report definition](report-definition.md#variables) lists those of the whole report.',
    fenced(
      '',
      BLOCKS.map((name) => `${name}${printFields(withoutKind(shapeOf(listViews(name))))}`).join('\n'),
    ),
  )
}

function namesOf(
  type: 'conjunction' | 'disjunction',
  isMeant: (block: ReturnType<typeof blockOf>) => boolean,
): string {
  return new Intl.ListFormat('en-GB', { type }).format(
    BLOCKS.filter((name) => isMeant(blockOf(name))).map(code),
  )
}

/** Every view has the name of its block. */
function withoutKind(shape: Shape): Shape {
  if (typeof shape === 'string' || !('fields' in shape)) return shape
  return { fields: shape.fields.filter(({ name }) => name !== 'kind') }
}

/** Composes the views of a block for full and empty figures of each kind of period. */
function listViews(name: (typeof BLOCKS)[number]): unknown[] {
  const locale = createLocaleContext('en-GB', 'UTC', NOW.toISOString())
  return (['working_day', 'week', 'month'] as const).flatMap((kind) => {
    const period = periodOf(kind, NOW, 'UTC', { holidays: [], lastEnd: null })
    const query = sampleTable({
      name: 'by-industry',
      title: 'By industry',
      note: 'A note',
      columns: ['industry', 'leads'],
      sql: '',
      isCut: false,
      rows: [],
    })
    const figures = sampleFigures({
      kind,
      period,
      prior: priorOf(kind, period),
      stalledDays: 7,
      topScore: 80,
      queries: [query],
    })
    const { agents } = figures
    const outages = agents.outages.map((outage) => ({ ...outage, endedAt: outage.beganAt }))
    return [
      figures,
      emptyFigures(figures),
      { ...figures, agents: { ...agents, outages } },
      withUnusualPipeline(figures),
    ].flatMap((each) =>
      [CONTEXT, { ...CONTEXT, chart: null }].flatMap((context) =>
        composeBlockViews(name, each, locale, context),
      ),
    )
  })
}

function withUnusualPipeline(figures: ReportFigures): ReportFigures {
  const { insight } = figures
  if (insight === null) return figures
  const pipeline = { id: 'pl_1', name: 'EU mid-market' }
  const unusual = insight.expectations.map((each) => ({ ...each, pipeline, judgement: 'high' as const }))
  return { ...figures, insight: { ...insight, expectations: [...insight.expectations, ...unusual] } }
}

const CONTEXT: BlockContext = {
  title: 'Daily leads',
  blocks: BLOCKS,
  recipient: 'ana@example.com',
  leadUrl: 'https://crm.example.com/{id}',
  moreUrl: 'https://leads.example.com/archive',
  resend: null,
  unsubscribe: null,
  leftOut: [],
  notMade: [],
  failed: [],
  chart: { light: 'cid:light', dark: 'cid:dark', width: 600, height: 200 },
  attached: new Map(BLOCKS.map((name) => [name, `${name}.xlsx`])),
}
