/** What operators are told to do can be done: the commands that notices name are there. */
import { globSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { createProgram } from '../../src/cli/program.ts'

const FILES = [
  'src/jobs/troubles/*.ts',
  'src/jobs/notice-message.ts',
  'src/jobs/sync/sync-leads.ts',
  'src/cli/checks/notice-check.ts',
]

/** shellCommand('resend ${report} --failed') -> the words of the command. */
const named = FILES.flatMap((pattern) => globSync(pattern)).flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/shellCommand\((['`])(.+?)\1\)/g)].map((match) => match[2] ?? ''),
)

it('there are commands to name', () => {
  expect(named.length).toBeGreaterThan(15)
})

it.each([...new Set(named)])('leadsheet %s can be called', async (line) => {
  const [name = '', ...rest] = line.split(/\s+/)
  const entry = COMMANDS.find((command) => command.name === name)
  expect(entry).toBeDefined()
  const command = new Command(name)
  ;(await entry?.load())?.(command, createProgram(new AbortController().signal).terminal)
  const sub = command.commands.find((child) => child.name() === rest[0])
  const called = sub ?? command
  const options = called.options.flatMap(({ long }) => long ?? [])
  for (const word of rest.filter((part) => part.startsWith('--'))) expect(options).toContain(word)
  const given = rest.slice(sub === undefined ? 0 : 1).filter((word, index, all) => {
    const before = called.options.find(({ long }) => long === all[index - 1])
    return !word.startsWith('--') && !(before?.required ?? false)
  })
  expect(given.length).toBeLessThanOrEqual(called.registeredArguments.length)
  const needed = called.registeredArguments.filter(({ required }) => required)
  expect(given.length).toBeGreaterThanOrEqual(needed.length)
})
