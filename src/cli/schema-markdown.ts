/** The dictionary as Markdown: what follows from the schema alone, so that it is the same on every machine. */
import type { Dictionary } from '../store/snapshot/dictionary.ts'

export function markdownOf({ tables, columns }: Dictionary): string {
  return tables
    .map(({ table_name: table, kind, meaning }) => {
      const rows = columns
        .filter((column) => column.table_name === table)
        .map((column) => [
          `\`${column.column_name}\``,
          column.type ?? '',
          column.unit ?? '',
          column.meaning,
          column.source_path,
        ])
      return [
        `## ${table}${kind === 'table' ? '' : ` (${kind})`}`,
        '',
        `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`,
        '',
        ...tableOf(['Column', 'Type', 'Unit', 'Meaning', 'Source'], rows),
      ].join('\n')
    })
    .join('\n\n')
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  )
}
