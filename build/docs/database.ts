/**
 * Generates the page on the tables, views and columns of a snapshot, from the descriptions in an empty
 * snapshot.
 */
import { describeEmpty, markdownOf } from '../../src/cli/commands/analysis/schema.ts'
import { REFERENCE_PROFILE } from '../../src/upstream/profile/reference-profile.ts'
import { code, page, table } from './markdown.ts'

const OPENING = `What analysts find in \`snapshot.db\`, table by table. The file itself holds the same in \`dictionary_table\` and \`dictionary\`, with row counts, the share of nulls and examples. \`npx leadsheet schema\` prints it.

In a PostgreSQL store, a role of \`npx leadsheet db grant\` finds the same tables and views, with the meanings as comments: \`\\d+ lead\` in psql shows them.

- TEXT is \`text\` there, sorted by its bytes. INTEGER is \`bigint\`, and BLOB is \`bytea\`. Instants are the same texts.
- REAL and ANY are \`double precision\`, so a number with more than 15 digits is rounded.
- Only the snapshot has \`figure\`, \`dictionary\`, \`dictionary_table\`, \`snapshot_info\`, \`lead_text\`, \`lead_fts\` and \`lead_search\`.`

export async function databasePage(): Promise<string> {
  const dictionary = await describeEmpty(REFERENCE_PROFILE)
  const index = dictionary.tables.map(({ table_name, kind, meaning }) => [
    code(table_name),
    kind,
    meaning.replace(/^one row per /, ''),
  ])
  return page(
    'Database',
    OPENING,
    table(['Table or view', 'Kind', 'One row per'], index),
    markdownOf(dictionary),
  )
}
