/** The child process that runs SQL of operators and analysts on the snapshot, and on nothing else. */
import { DatabaseSync } from 'node:sqlite'
import type { LeadFilter } from '../../domain/figures.ts'
import { errorText } from '../../errors.ts'
import { answerParent } from '../db/subprocess.ts'
import { chosenLeadsSql, chosenValues } from '../figures/lead-filter.ts'
import { READ_ONLY, type Selected, type SelectLimits, select } from './select.ts'

export interface QueryTask extends SelectLimits {
  readonly sqls: readonly string[]
  readonly values: Readonly<Record<string, string | number | null>>
  /** The filter of the leads that the table `chosen` has; null if no query reads it. */
  readonly chosen: LeadFilter | null
  /** If true, no query runs, and the answers have no rows. */
  readonly isTrial: boolean
}

export interface QueryJob extends QueryTask {
  readonly file: string
}

export type QueryAnswer = { readonly error: string } | ({ readonly error: null } & Selected)

answerParent(({ file, sqls, chosen, ...task }: QueryJob): QueryAnswer[] => {
  const database = new DatabaseSync(file, READ_ONLY)
  if (chosen !== null) makeChosen(database, chosen)
  return sqls.map((sql) => {
    try {
      return { error: null, ...select(database, sql, task) }
    } catch (thrown) {
      return { error: errorText(thrown) }
    }
  })
})

/** Runs the filter once and not for every row. A filter that takes all leads needs only a view. */
function makeChosen(database: DatabaseSync, filter: LeadFilter): void {
  const { pipelineIds, conditions } = filter
  if (pipelineIds === null && conditions.length === 0) {
    database.exec(`CREATE TEMP VIEW chosen AS ${chosenLeadsSql(filter)}`)
    return
  }
  database.exec('CREATE TEMP TABLE chosen (lead_id TEXT PRIMARY KEY) WITHOUT ROWID')
  const fill = database.prepare(`INSERT INTO chosen ${chosenLeadsSql(filter)}`)
  fill.setAllowUnknownNamedParameters(true)
  fill.run({ ...chosenValues(conditions), pipelines: JSON.stringify(pipelineIds) })
}
