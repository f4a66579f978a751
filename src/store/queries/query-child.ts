/** The process that runs the SQL of an analyst: it may read the snapshot and nothing else. */
import { DatabaseSync } from 'node:sqlite'
import { errorText } from '../../errors.ts'
import { answerParent } from '../db/subprocess.ts'
import { allowReadsOnly, READ_ONLY, type Selected, type SelectLimits, select } from './select.ts'

export interface QueryJob extends SelectLimits {
  readonly file: string
  readonly sql: string
}

/** What SQLite says against the statement, or its rows. */
export type QueryAnswer = { readonly error: string } | ({ readonly error: null } & Selected)

answerParent(answer)

function answer({ file, sql, ...limits }: QueryJob): QueryAnswer {
  try {
    const database = new DatabaseSync(file, READ_ONLY)
    allowReadsOnly(database)
    return { error: null, ...select(database, sql, {}, limits) }
  } catch (thrown) {
    return { error: errorText(thrown) }
  }
}
