/** The lines around a mistake, for people who mend templates and settings. */
import { readFile } from 'node:fs/promises'

export interface Excerpt {
  readonly file: string
  readonly line: number
  readonly lines: readonly { readonly number: number; readonly text: string }[]
}

const AROUND = 3
/** `template mine/text.hbs, line 3: …` and `mine/report.yaml:12:10  …` */
const PLACES = [/template (.+?), line (\d+):/, /^\s*(.+?\.ya?ml):(\d+):\d+ {2}/m]

/** @returns null where the message names no line, or no file that can be read */
export async function excerptAt(message: string): Promise<Excerpt | null> {
  const found = PLACES.map((place) => place.exec(message)).find((match) => match !== null)
  const [, file = '', digits = ''] = found ?? []
  const line = Number(digits)
  const text = found ? await readFile(file, 'utf8').catch(() => null) : null
  if (text === null) return null
  const all = text.trimEnd().split('\n')
  const first = Math.max(1, line - AROUND)
  return {
    file,
    line,
    lines: all.slice(first - 1, line + AROUND).map((each, index) => ({ number: first + index, text: each })),
  }
}
