/**
 * Writes generated pages as Markdown. A text that is too long for a table cell goes on below the table.
 */

const LONGEST_CELL = 25

/** Returns a page: the title, the opening sentences and the parts. */
export function page(title: string, opening: string, ...parts: readonly string[]): string {
  const end = '<!-- This page is generated from the code. Change the code, then run `npm run docs`. -->'
  return `${[`# ${title}`, opening, ...parts.filter((part) => part !== ''), end].join('\n\n')}\n`
}

/** @param rows the cells of each row; the first cell of a row is the row's name */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const long: string[] = []
  const lines = rows.map((cells) => {
    const short = cells.map((cell) => {
      const { start, rest } = cut(cell)
      if (rest !== '') long.push(`${cells[0]}: … ${prose(rest).replace(/\.$/, '')}.`)
      return prose(start).replaceAll('|', '\\|')
    })
    return `| ${short.join(' | ')} |`
  })
  const titles = [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`]
  return [[...titles, ...lines].join('\n'), ...long].join('\n\n')
}

/** Begins a text with a capital letter and ends it with a full stop. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``
}

/** Cuts a text that has too many words for a cell after its first clauses. */
function cut(text: string): { readonly start: string; readonly rest: string } {
  if (countWords(text) <= LONGEST_CELL) return { start: text, rest: '' }
  const starts = [...text.matchAll(/(?<=\w|\))[.;:,] /g)].map(({ 0: mark, index }) => ({
    isWhole: mark !== ', ',
    start: text.slice(0, index),
  }))
  const fitting = starts.filter(
    ({ start }) =>
      countWords(start) <= LONGEST_CELL - 2 && start.split('(').length === start.split(')').length,
  )
  const best = fitting.findLast(({ isWhole }) => isWhole) ?? fitting.at(-1)
  const start = best?.start ?? text.split(' ').slice(0, 12).join(' ')
  return { start: `${start} (more below)`, rest: text.slice(start.length).replace(/^[.;:,]? /, '') }
}

function countWords(text: string): number {
  return text.split(/\s+/).length
}

/** Escapes each `<` that Markdown would read as an HTML tag, except inside code. */
function prose(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '&lt;')))
    .join('')
}
