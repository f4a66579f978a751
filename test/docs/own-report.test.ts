// @long
/**
 * The README shows the current output of the demo. The tutorial about your own report works: each of its
 * commands is run and each file is written, up to the mail.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { readAllText, readSection } from '../support/docs/docs.ts'
import { folderWith } from '../support/folder.ts'
import { runLeadsheet } from '../support/leadsheet.ts'
import { clockAt, clockStandingAt } from '../support/process/shifted-clock.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'

type Step =
  | { readonly kind: 'commands'; readonly lines: readonly string[] }
  | { readonly kind: 'file'; readonly path: string; readonly isAddition: boolean; readonly text: string }

function readSteps(): Step[] {
  const section = readSection('A report of your own')
  return [...section.matchAll(/(?:^([^\n]*)\n\n)?^```(\w+)\n(.*?)^```/gms)].map(
    ([, before = '', language, text = '']) => {
      if (language === 'sh') return { kind: 'commands', lines: text.trim().split('\n') }
      const path = /`([^`]+)`[^`]*$/.exec(before)?.[1] ?? ''
      expect(path, before).toMatch(/^data\/demo\//)
      return { kind: 'file', path, isAddition: before.includes('at the end of'), text }
    },
  )
}

/** Turns `npx leadsheet report new x  # why` into `['report', 'new', 'x']`. */
function argumentsIn(line: string): string[] {
  const [, words = ''] = /^npx leadsheet (.*?)(?:\s+#.*)?$/.exec(line) ?? []
  return words.split(/\s+/)
}

/** A Wednesday. */
const SHOWN_AT = '2026-11-18T08:30:00Z'

test('a report is made, looked at and sent by following the documentation', async () => {
  const cwd = folderWith()
  const shown = await runLeadsheet(['demo'], { cwd, env: { ...clockStandingAt(SHOWN_AT), TZ: 'UTC' } })
  expect(shown.status, shown.stderr).toBe(0)
  const [, printed = ''] = /^```\n(Synced\n.*?)^```/ms.exec(readAllText()) ?? []
  expect(withoutChance(shown.stdout)).toContain(withoutChance(printed))
  const env: Record<string, string> = { ...clockAt(SHOWN_AT), TZ: 'UTC' }
  const run = async (args: readonly string[]): Promise<void> => {
    const { status, stderr } = await runWarm(args, { cwd, env })
    // The demo's settings name no service, as the page says.
    expect(status, `${args.join(' ')}: ${stderr}`).toBe(args[0] === 'config' ? 2 : 0)
  }
  for (const step of readSteps()) {
    if (step.kind === 'file') {
      const file = join(cwd, step.path)
      mkdirSync(dirname(file), { recursive: true })
      if (step.isAddition) appendFileSync(file, step.text)
      else writeFileSync(file, step.text)
      await run(['report', 'preview', 'industries', '-o', 'industries.html'])
      continue
    }
    for (const line of step.lines) {
      const [, name, value] = /^export (\w+)=(\S+)/.exec(line) ?? []
      if (name !== undefined && value !== undefined) env[name] = value
      else await run(argumentsIn(line))
    }
  }

  const outbox = join(cwd, 'data/demo/outbox')
  const [message = ''] = readdirSync(outbox).filter((name) => name.includes('industries-you'))
  const mail = await PostalMime.parse(readFileSync(join(outbox, message)))
  expect(mail.subject).toMatch(/^Industries, week \d+: ((a usual week|no clear change), )?\d+ new/)
  expect(mail.html).toContain('For the Monday round.')
  expect(mail.html).toMatch(/New leads by industry.*B2B.*Won by country/s)
  expect(mail.text).toMatch(/NEW LEADS BY INDUSTRY\n.*Mean score/s)
  expect(mail.attachments.map(({ filename }) => filename)).toContainEqual(
    expect.stringMatching(/^industries-by-industry-.*\.xlsx$/),
  )
})

/** Removes random values and durations. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/(run \d{8}T\d{6}Z)-[0-9a-f]{6}/g, '$1')
    .replaceAll(/(com)-[0-9a-f]{8}\.eml/g, '$1.eml')
    .replaceAll(/in \d+\.\d s;/g, 'in some s;')
}
