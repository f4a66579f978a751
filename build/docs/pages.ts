/** Collects all generated files by their paths, relative to the root of the project. */
import { blocksPage } from './blocks.ts'
import { commandsPage, manPage } from './commands.ts'
import { databasePage } from './database.ts'
import { dependenciesPage } from './dependencies.ts'
import { exampleYaml } from './example-yaml.ts'
import { holidayRegionsJson } from './holiday-regions.ts'
import { RECORD_PAGE, recordPage } from './insight-record.ts'
import { jsonOutputPage } from './json-output.ts'
import { sentencesPage } from './sentences.ts'
import { settingsJsonSchema, settingsPage } from './settings.ts'
import { checksPage, errorsPage, figuresPage, metricsPage } from './tables.ts'

export async function generatePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['leadsheet.example.yaml', exampleYaml()],
    ['docs/reference/settings.md', settingsPage()],
    ['docs/reference/leadsheet.schema.json', `${JSON.stringify(settingsJsonSchema(), null, 2)}\n`],
    ['docs/reference/commands.md', await commandsPage()],
    ['docs/reference/json-output.md', await jsonOutputPage()],
    ['docs/reference/exit-and-error-codes.md', errorsPage()],
    ['docs/reference/checks.md', checksPage()],
    ['docs/reference/metrics.md', await metricsPage()],
    ['docs/reference/figures.md', figuresPage()],
    ['docs/reference/database.md', await databasePage()],
    ['docs/reference/dependencies.md', dependenciesPage()],
    ['docs/reference/report-blocks.md', blocksPage()],
    ['docs/reference/sentences.md', sentencesPage()],
    ['src/schedule/holiday-regions.json', holidayRegionsJson()],
    [RECORD_PAGE, recordPage()],
    ['man/leadsheet.1', await manPage()],
  ])
}
