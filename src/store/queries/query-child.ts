/** The child process that runs an analyst's SQL. It may read the snapshot and nothing else. */
import { DatabaseSync } from 'node:sqlite'
import { errorText } from '../../errors.ts'
import { answerParent } from '../db/subprocess.ts'
import { allowReadsOnly, READ_ONLY, type Selected, type SelectLimits, select } from './select.ts'

export interface QueryJob extends SelectLimits {
  readonly file: string
  readonly sql: string
}

/** The error of SQLite, or the rows of the statement. */
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
