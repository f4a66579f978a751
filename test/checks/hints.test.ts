/** The commands in the hints for operators exist. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { findCommand } from '../support/docs/commands.ts'

const FILES = [
  'src/checks/*.ts',
  'src/jobs/alerts/alert-message.ts',
  'src/jobs/sync/sync-leads.ts',
  'src/cli/installation-checks.ts',
]

/** Finds `shellCommand('report resend ${report} --failed')` and returns the words of the command. */
const named = FILES.flatMap((pattern) => globSync(pattern)).flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/shellCommand\((['`])(.+?)\1\)/g)].map((match) => match[2] ?? ''),
)

it('there are commands to name', () => {
  expect(named.length).toBeGreaterThan(15)
})

it.each([...new Set(named)])('leadsheet %s can be called', async (line) => {
  const called = await findCommand(line.split(/\s+/))
  if (called === undefined) throw new Error(`there is no such command: ${line}`)
  const { command, rest, options } = called
  for (const word of rest.filter((part) => part.startsWith('-'))) expect(options).toContain(word)
  const given = rest.filter((word, index, all) => {
    const before = all[index - 1] ?? ''
    const option = command.options.find(({ long, short }) => before !== '' && [long, short].includes(before))
    return !word.startsWith('-') && option?.required !== true
  })
  expect(given.length).toBeLessThanOrEqual(command.registeredArguments.length)
  const needed = command.registeredArguments.filter(({ required }) => required)
  expect(given.length).toBeGreaterThanOrEqual(needed.length)
})
