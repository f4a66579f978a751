/** A snapshot of tables that a test defines, with the dictionary that every snapshot has. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { writeDictionary } from '../../../src/store/snapshot/dictionary.ts'
import { folderWith } from '../folder.ts'

/** @param statements make and fill the tables; a column whose comment begins with `UTC` holds instants */
export function snapshotWith(statements: string): string {
  const file = join(folderWith(), 'snapshot.db')
  const database = new Database(file)
  database.pragma('journal_mode = OFF')
  database.pragma('synchronous = OFF')
  database.exec(statements)
  writeDictionary(database, {})
  database.close()
  return file
}
