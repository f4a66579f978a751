/** Changes and asks a database behind the back of the program. */
import Database from 'better-sqlite3'

export function alterFile(file: string, statements: string): void {
  const database = new Database(file)
  database.exec(statements)
  database.close()
}

/** Returns the rows of a query, in a file that no program has open. */
export function askFile<Row = Record<string, unknown>>(file: string, query: string): Row[] {
  const database = new Database(file)
  const rows = database.prepare<[], Row>(query).all()
  database.close()
  return rows
}
