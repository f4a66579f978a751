/**
 * What the comments of a CREATE statement say of a table or view and of its columns: SQLite keeps them in the
 * file. In a table the comment behind a column is its meaning; a view says `-- column: meaning`.
 */

export interface SchemaComments {
  /** Of the table or view as a whole; empty where nothing is said. */
  readonly whole: string
  readonly columns: ReadonlyMap<string, string>
}

/** Comments, quoted names and texts, marks, line ends, words. */
const TOKEN =
  /--(?<line>[^\n]*)|\/\*(?<block>[\s\S]*?)\*\/|"(?:[^"]|"")*"|'(?:[^']|'')*'|`[^`]*`|\[[^\]]*\]|[(),]|\n|[^\s(),"'`[]+/g

const CONSTRAINT = /^(PRIMARY|FOREIGN|UNIQUE|CHECK|CONSTRAINT)$/i

/** A comment belongs to the column that it follows on its line, also behind the comma. */
export function readTableComments(create: string): SchemaComments {
  const whole: string[] = []
  const columns = new Map<string, string[]>()
  let depth = 0
  let column: string | null = null
  let isNewColumn = true
  for (const { 0: token, groups } of create.matchAll(TOKEN)) {
    const comment = groups?.line ?? groups?.block
    if (comment !== undefined) {
      if (depth > 0) (column === null ? whole : columns.get(column))?.push(comment.trim())
    } else if (token === '(') depth++
    else if (token === ')') depth--
    else if (token === ',' && depth === 1) isNewColumn = true
    else if (depth === 1 && isNewColumn && token !== '\n') {
      isNewColumn = false
      column = unquoted(token)
      if (!CONSTRAINT.test(token)) columns.set(column, [])
    }
  }
  return { whole: whole.join(' '), columns: joined(columns) }
}

/** What stands before the first SELECT is of the view as a whole; a meaning may go on in the comment lines below it. */
export function readViewComments(create: string, names: readonly string[]): SchemaComments {
  const whole: string[] = []
  const columns = new Map<string, string[]>()
  let lines: string[] | null = whole
  for (const line of create.split('\n')) {
    const comment = /^\s*--\s*(.*?)\s*$/.exec(line)?.[1]
    const [, name = '', meaning = ''] = /^(\w+): (.*)$/.exec(comment ?? '') ?? []
    if (comment !== undefined && names.includes(name)) {
      lines = [meaning]
      columns.set(name, lines)
    } else if (comment !== undefined) lines?.push(comment)
    else if (!/^\s*CREATE\b/i.test(line)) lines = null
  }
  return { whole: whole.join(' '), columns: joined(columns) }
}

function joined(columns: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  return new Map([...columns].map(([name, lines]) => [name, lines.join(' ')]))
}

function unquoted(token: string): string {
  return /^["'`[]/.test(token) ? token.slice(1, -1).replaceAll('""', '"') : token
}
