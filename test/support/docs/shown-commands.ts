/** Lists the command lines that the documentation shows, page by page. */
import { globSync, readFileSync } from 'node:fs'

export interface ShownLine {
  readonly page: string
  /** The command line without its comment and without the prompt. */
  readonly line: string
}

/**
 * Lists the lines of `sh` and `console` blocks, and the lines after a prompt in blocks without a language.
 * Continued lines are joined.
 */
export function listShownLines(): ShownLine[] {
  const pages = globSync(['README.md', 'CONTRIBUTING.md', 'deploy/**/*.md', 'docs/**/*.md'], {
    exclude: (path) => path.includes('node_modules'),
  }).sort()
  return pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/^ *```(\w*)[^\n]*\n(.*?)^ *```/gms)].flatMap(
      ([, language = '', code = '']) => linesIn(language, code).map((line) => ({ page, line })),
    ),
  )
}

function linesIn(language: string, code: string): string[] {
  if (!['sh', 'console', ''].includes(language)) return []
  const lines = code.replaceAll(/\\\n\s*/g, '').split('\n')
  const prompted = lines.filter((line) => /^\s*\$ /.test(line)).map((line) => line.replace(/^\s*\$ /, ''))
  const shown = prompted.length > 0 || language !== 'sh' ? prompted : lines
  return shown
    .map((line) =>
      line
        .replace(/(?:^|\s+)#\s.*$/, '')
        .replace(/ {3}\(.*\)$/, '')
        .trim(),
    )
    .filter((line) => line !== '')
}
