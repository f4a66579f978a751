/** A question whose answer changes data. */
import { createInterface } from 'node:readline/promises'
import { LeadsheetError } from '../errors.ts'
import type { Terminal } from './terminal.ts'

/**
 * @param isYes whether it was answered on the command line
 * @returns whether to go on; anything but y or yes is a no
 * @throws LeadsheetError usage_invalid where nobody can be asked
 */
export async function confirm(terminal: Terminal, question: string, isYes: boolean): Promise<boolean> {
  if (isYes) {
    terminal.note(question)
    return true
  }
  if (!process.stdin.isTTY || terminal.json) {
    throw new LeadsheetError('usage_invalid', question, { hint: 'Say --yes if you are sure.' })
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await lines.question(`${question} Go on? [y/N] `, { signal: terminal.signal })
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
