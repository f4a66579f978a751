/** The advice to an operator after refusals of providers, in the words that these document. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { adviceFor } from '../../src/mail/advice.ts'

/** Refusals, each with the scheme of `mail.url`, and below it the advice. New refusals are added there. */
const GOLDEN = 'golden/advice.txt'

it('a refusal of a provider leads to the page where it is corrected, and that of another server to none', async () => {
  const lines = readFileSync(join(import.meta.dirname, GOLDEN), 'utf8').split('\n')
  const told = lines
    .filter((line) => !line.startsWith('  '))
    .map((line) => {
      const [scheme = '', words = ''] = line.split(' | ')
      if (words === '') return line
      return `${line}\n  ${adviceFor(words.replaceAll('\\n', '\n'), scheme) ?? 'none'}`
    })
  await expect(told.join('\n')).toMatchFileSnapshot(GOLDEN)
})
