/** What can be told of an analyst's SQL before SQLite reads it. */

/** A text, a quoted name or a comment; one without an end is all that follows, or each would be looked for again. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g

/** Whether it asks for rows, by how it begins. */
export function isSelect(sql: string): boolean {
  return /^[\s(]*(SELECT|WITH|VALUES|TABLE)\b/i.test(withoutTexts(sql))
}

/** SQLite would leave a second one out without a word. */
export function hasSecondStatement(sql: string): boolean {
  return /;\s*[^\s;]/.test(withoutTexts(sql))
}

/** As written: `:from`, `?1`; each once. A type as PostgreSQL has it (`::date`) is none. */
export function parametersIn(sql: string): string[] {
  const found = withoutTexts(sql).match(/(?<![\w$:])[:@$][A-Za-z_]\w*|\?\d*/g) ?? []
  return [...new Set(found)]
}

/** With a value in the place of each parameter `:name`. */
export function fillParameters(sql: string, write: (name: string) => string): string {
  const part = new RegExp(`${QUOTED.source}|(?<![\\w$:]):([A-Za-z_]\\w*)`, 'g')
  return sql.replace(part, (found, name?: string) => (name === undefined ? found : write(name)))
}

/** Whether a table, a column or anything else is called so. */
export function namesIn(sql: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`, 'i').test(withoutTexts(sql))
}

/** Without comments, and an `x` for every text and quoted name. */
function withoutTexts(sql: string): string {
  return sql.replace(QUOTED, (part) => (/^[-/]/.test(part) ? ' ' : 'x'))
}
