/**
 * The chart of the page about performance: the CPU time of a lead, for leadsheet, the floors and the peers.
 */
import type { Outcome } from './page.ts'

interface Bar {
  readonly text: string
  readonly step: string
  readonly kind: 'ours' | 'floor' | 'peer'
}

const GROUPS: readonly { readonly title: string; readonly bars: readonly Bar[] }[] = [
  {
    title: 'First sync',
    bars: [
      { text: 'floor: one statement a table and page', step: 'floor-jsonb first', kind: 'floor' },
      { text: 'floor: prepared statements', step: 'floor-prepared first', kind: 'floor' },
      { text: 'leadsheet', step: 'ours first', kind: 'ours' },
      { text: 'Node script: undici, Kysely', step: 'plain-batches first', kind: 'peer' },
      { text: 'Python script: requests, sqlite3', step: 'python first', kind: 'peer' },
    ],
  },
  {
    title: 'Everything read again, nothing changed',
    bars: [
      { text: 'floor: fetched and parsed', step: 'fetch and parse', kind: 'floor' },
      { text: 'leadsheet', step: 'ours unchanged', kind: 'ours' },
      { text: 'Node script: undici, Kysely', step: 'plain-batches unchanged', kind: 'peer' },
      { text: 'Python script: requests, sqlite3', step: 'python unchanged', kind: 'peer' },
    ],
  },
]

const [WIDTH, LABELS, BAR, ROW, TITLE, MARGIN] = [760, 270, 18, 26, 40, 16]

/** Returns the chart as SVG in the colours of the reader's page, light or dark. */
export function chartOf({ leads, medians }: Pick<Outcome, 'leads' | 'medians'>): string {
  const size = leads[0] ?? 0
  const find = (step: string): number | undefined =>
    medians.find(({ what, leads: of }) => what === `${step} cpu` && of === size)?.median
  const found = GROUPS.map(({ title, bars }) => ({
    title,
    bars: bars.flatMap((bar) => {
      const us = find(bar.step)
      return us === undefined ? [] : [{ ...bar, us }]
    }),
  }))
  const most = Math.max(1, ...found.flatMap(({ bars }) => bars.map(({ us }) => us)))
  const scale = (WIDTH - LABELS - 2 * MARGIN - 60) / most
  const parts: string[] = []
  let y = MARGIN
  for (const { title, bars } of found) {
    parts.push(`<text class="title" x="${MARGIN}" y="${y + 20}">${title}</text>`)
    y += TITLE
    for (const { text, kind, us } of bars) {
      const [middle, width, x] = [y + BAR / 2 + 4.5, (us * scale).toFixed(1), MARGIN + LABELS]
      parts.push(
        `<text x="${x - 10}" y="${middle}" text-anchor="end">${text}</text>`,
        `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`,
        `<text x="${(x + us * scale + 8).toFixed(1)}" y="${middle}">${us.toFixed(1)}</text>`,
      )
      y += ROW
    }
    y += MARGIN / 2
  }
  const caption = `Microseconds of a processor for each of ${size.toLocaleString('en')} leads; less is better`
  const height = y + 2 * MARGIN
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>${caption}</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 15px }
.back { fill: #ffffff } .ours { fill: #1f6feb } .floor { fill: #8c959f } .peer { fill: #bf8700 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .back { fill: #0d1117 } .ours { fill: #58a6ff } .floor { fill: #6e7681 } .peer { fill: #d29922 }
}
</style>
<rect class="back" width="${WIDTH}" height="${height}" rx="6"/>
${parts.join('\n')}
<text x="${MARGIN}" y="${height - MARGIN}">${caption}</text>
</svg>
`
}
