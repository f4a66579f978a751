/** Conditions in SQL over a few numbers: a row of their own in memory, that nothing else can be reached from. */
import { DatabaseSync } from 'node:sqlite'
import { errorText, LeadsheetError } from '../../errors.ts'
import { allowOnlyReading, READ_ONLY } from './select.ts'
import { hasSecondStatement, namesIn } from './sql-text.ts'

/**
 * Whether the condition is true of the numbers; one that asks for what is not known (null) is not.
 * @param condition such as `new_leads < 10 OR stalled > 20`
 * @throws LeadsheetError config_invalid where it is no condition over them
 */
export function isTrueOf(condition: string, numbers: Readonly<Record<string, number | null>>): boolean {
  const names = Object.keys(numbers)
  const wrong = (reason: string): LeadsheetError =>
    new LeadsheetError('config_invalid', `if_threshold: ${condition} cannot be asked: ${reason}`, {
      hint: `It is a condition in SQL over these numbers: ${names.join(', ')}.`,
    })
  if (hasSecondStatement(condition)) throw wrong('there is more than one statement')
  if (namesIn(condition, 'select')) throw wrong('it holds a query of its own')
  const database = new DatabaseSync(':memory:', { limits: READ_ONLY.limits })
  try {
    database.exec(`CREATE TABLE number (${names.map((name) => `${name} REAL`).join(', ')})`)
    database
      .prepare(`INSERT INTO number VALUES (${names.map(() => '?').join(', ')})`)
      .run(...Object.values(numbers))
    allowOnlyReading(database)
    const row = database.prepare(`SELECT iif((${condition}\n), 1, 0) AS holds FROM number`).get()
    return row?.holds === 1
  } catch (thrown) {
    throw wrong(errorText(thrown))
  } finally {
    database.close()
  }
}
