/**
 * Reads the ready queries: a folder of `.sql` files that each begin with a title and a description as
 * comments.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface ReadyQuery {
  /** The name of the file without `.sql`. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly sql: string
}

/** Reads all queries, sorted by name. */
export async function readQueries(folder: string): Promise<ReadyQuery[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file) =>
      parseQuery(file.replace(/\.sql$/, ''), await readFile(join(folder, file), 'utf8')),
    ),
  )
}

function parseQuery(name: string, text: string): ReadyQuery {
  const lines = text.trim().split('\n')
  const first = lines.findIndex((line) => !line.startsWith('--'))
  const [title = name, ...description] = lines.slice(0, first).map((line) => line.replace(/^--\s*/, ''))
  return { name, title, description: description.join(' '), sql: lines.slice(first).join('\n').trim() }
}
