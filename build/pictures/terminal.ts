/**
 * Records the demo in a terminal, and draws it as an animated SVG. Each line appears at the time at which the
 * demo printed it.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { clockAt } from '../../test/support/process/shifted-clock.ts'
import { ROOT } from './installation.ts'

const COMMAND = 'npm run demo'
/** The shortest time between two recorded states of the progress bar. */
const BAR_EVERY_MS = 250
const SHOWN_AT = '2026-11-18T08:30:00Z'
const COLUMNS = 104
const LINE_PX = 19
const CHARACTER_PX = 8.43
const PADDING_PX = 16
const BAR_PX = 30
/**
 * The seconds that the animation spends on typing the command, on the run and on the final picture. The run
 * is sped up evenly to fit.
 */
const [TYPING_S, RUN_S, REST_S] = [1.2, 6, 6]
/**
 * Matches the line at which the recording ends. The later lines only suggest next steps, and would make the
 * picture too high.
 */
const LAST_LINE = /^The names are/

interface Line {
  readonly text: string
  /** Milliseconds since the start of the program. */
  readonly atMs: number
}

export async function recordDemo(): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'leadsheet-demo-'))
  try {
    return draw(await record(cwd))
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

interface Recording {
  readonly lines: readonly Line[]
  /** States of the progress bar, which is drawn again and again in the line below the command. */
  readonly bars: readonly Line[]
}

/** Runs the demo in a terminal, and returns the lines that it shows with their times. */
async function record(cwd: string): Promise<Recording> {
  const { PATH = '' } = process.env
  const began = performance.now()
  const program = `stty cols ${COLUMNS} rows 50; exec "${process.execPath}" "${join(ROOT, 'src/main.ts')}" demo`
  const child = spawn('script', ['-qfec', program, '/dev/null'], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH, HOME: cwd, TZ: 'UTC', NO_COLOR: '1', SHELL: '/bin/sh', TERM: 'xterm', ...clockAt(SHOWN_AT) },
  })
  const [lines, bars]: Line[][] = [[], []]
  let rest = ''
  for await (const part of child.stdout) {
    const texts = `${rest}${part}`.split(/\r?\n/)
    rest = texts.pop() ?? ''
    const atMs = performance.now() - began
    for (const text of texts) lines?.push({ text: shownOf(text), atMs })
    const bar = shownOf(rest)
    if (bar !== '' && atMs - (bars?.at(-1)?.atMs ?? 0) > BAR_EVERY_MS) bars?.push({ text: bar, atMs })
  }
  const told = lines ?? []
  const end = told.findIndex(({ text }) => LAST_LINE.test(text))
  if (end === -1) throw new Error(`the demo has not told all: ${told.map(({ text }) => text).join('\n')}`)
  return { lines: told.slice(0, end - 1), bars: bars ?? [] }
}

/** Returns the visible text of a line that was drawn several times over itself. */
function shownOf(written: string): string {
  return stripVTControlCharacters(
    written.split('\u001b[1G').findLast((part) => stripVTControlCharacters(part).trim() !== '') ?? '',
  ).trimEnd()
}

function draw({ lines, bars }: Recording): string {
  const total = TYPING_S + RUN_S + REST_S
  const width = Math.round(COLUMNS * CHARACTER_PX + 2 * PADDING_PX)
  const height = BAR_PX + 2 * PADDING_PX + (lines.length + 2) * LINE_PX
  const last = Math.max(...lines.map(({ atMs }) => atMs))
  const y = (row: number): number => BAR_PX + PADDING_PX + (row + 1) * LINE_PX - 5
  const moments = spread(lines.map(({ atMs }) => TYPING_S + (atMs / last) * RUN_S))
  const rows = lines.map(({ text }, row) => {
    const at = moments[row] ?? total
    return { text, row: row + 2, at: Math.round((at / total) * 1000) / 10 }
  })
  const shareOf = (atMs: number): number =>
    Math.round(((TYPING_S + (atMs / last) * RUN_S) / total) * 1000) / 10
  const shown = bars.filter(({ atMs }) => shareOf(atMs) < (rows[0]?.at ?? 0))
  const progress = shown.map(({ text, atMs }, index) => {
    const until = shown[index + 1]?.atMs
    return {
      text,
      from: shareOf(atMs),
      until: until === undefined ? (rows[0]?.at ?? 0) : shareOf(until),
      index,
    }
  })
  const turns = progress.map(
    ({ from, until, index }) =>
      `@keyframes p${index}{0%,${from}%{opacity:0}${(from + 0.01).toFixed(2)}%,${until}%{opacity:1}${(until + 0.01).toFixed(2)}%,100%{opacity:0}}.p${index}{opacity:0;animation:p${index} ${total}s linear infinite}`,
  )
  const typed = [...COMMAND].map((_, index) => {
    const share = ((0.3 + (index / COMMAND.length) * (TYPING_S - 0.4)) / total) * 100
    return { share: Math.round(share * 10) / 10, index }
  })
  const seen = [...new Set([...rows.map(({ at }) => at), ...typed.map(({ share }) => share)])]
  const steps = seen.map(
    (at) =>
      `@keyframes s${nameOf(at)}{0%,${at}%{opacity:0}${(at + 0.1).toFixed(1)}%,99.9%{opacity:1}100%{opacity:0}}.s${nameOf(at)}{animation:s${nameOf(at)} ${total}s linear infinite}`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="npm run demo in a terminal">
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:#d7dce2;white-space:pre}.b{font-weight:700;fill:#fff}.d{fill:#8b96a3}.p{fill:#5fd38d}${steps.join('')}${turns.join('')}@media(prefers-reduced-motion:reduce){[class^=s]{animation:none!important}}</style>
<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>
<circle cx="20" cy="16" r="5.5" fill="#f2645a"/><circle cx="38" cy="16" r="5.5" fill="#f0b73c"/><circle cx="56" cy="16" r="5.5" fill="#46c25c"/>
<text x="${PADDING_PX}" y="${y(0)}" textLength="${((COMMAND.length + 2) * CHARACTER_PX).toFixed(1)}"><tspan class="p">$ </tspan>${typed.map(({ share, index }) => `<tspan class="s${nameOf(share)}">${escapeXml(COMMAND[index] ?? '')}</tspan>`).join('')}</text>
${progress.map(({ text, index }) => `<text x="${PADDING_PX}" y="${y(1)}" class="p${index}">${escapeXml(text)}</text>`).join('\n')}
${rows
  .filter(({ text }) => text !== '')
  .map(
    ({ text, row, at }) =>
      `<text x="${PADDING_PX}" y="${y(row)}" class="s${nameOf(at)}${classOf(text)}" xml:space="preserve">${escapeXml(text)}</text>`,
  )
  .join('\n')}
</svg>
`
}

/** Spaces out lines that were printed at the same moment, so that the eye can follow. */
function spread(moments: readonly number[]): number[] {
  const least = 0.07
  let before = 0
  return moments.map((moment) => {
    before = Math.max(moment, before + least)
    return Math.min(before, TYPING_S + RUN_S + 2)
  })
}

function nameOf(share: number): string {
  return String(share).replace('.', '_')
}

function classOf(text: string): string {
  if (/^\S/.test(text)) return ' b'
  return /^ {4}|database|snapshot|settings/.test(text) ? ' d' : ''
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
