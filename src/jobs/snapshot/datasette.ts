/**
 * `metadata.json` for Datasette: what it shows of the snapshot's tables and columns, and the ready queries.
 * Units stand in the descriptions: Datasette's own `units` would print 0.02 days as 20 millidays.
 */
import type { Dictionary } from '../../store/snapshot/dictionary.ts'
import type { SnapshotInfo } from '../../store/snapshot/snapshot.ts'
import type { ReadyQuery } from './ready-queries.ts'

/** The database is called after its file, `snapshot.db`. */
const DATABASE = 'snapshot'

/** The tables by whose column of that name the words of a search are looked up in the full-text index. */
const SEARCHED = ['lead', 'lead_now']

export function composeMetadata(info: SnapshotInfo, dictionary: Dictionary, queries: readonly ReadyQuery[]) {
  return {
    title: 'leadsheet',
    description: `Leads as of ${info.leadsAsOf}, snapshot of ${info.madeAt}. Times are UTC.`,
    databases: {
      [DATABASE]: {
        tables: Object.fromEntries(
          dictionary.tables.map(({ table_name: name, kind, meaning }) => [
            name,
            {
              description: meaning,
              columns: columnsOf(dictionary, name),
              ...(SEARCHED.includes(name) && { fts_table: 'lead_fts', fts_pk: 'no' }),
              ...(kind === 'search' && { hidden: true }),
            },
          ]),
        ),
        queries: Object.fromEntries(
          queries.map(({ name, title, description, sql }) => [name, { title, description, sql }]),
        ),
      },
    },
  }
}

function columnsOf({ columns }: Dictionary, table: string): Record<string, string> {
  return Object.fromEntries(
    columns
      .filter((column) => column.table_name === table)
      .map(({ column_name: name, meaning, unit }) => [name, withUnit(meaning, unit)]),
  )
}

/** Unless the meaning says the unit itself. */
function withUnit(meaning: string, unit: string | null): string {
  return unit === null || meaning.includes(unit) ? meaning : `${meaning} (${unit})`
}
