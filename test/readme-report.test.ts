/** Follows "Making a report" of the README to the letter: each command is run, each file written. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { folderWith } from './support/folder.ts'
import { runLeadsheet, startLeadsheet } from './support/leadsheet.ts'

type Step =
  | { readonly kind: 'commands'; readonly lines: readonly string[] }
  | { readonly kind: 'file'; readonly path: string; readonly isAddition: boolean; readonly text: string }

function readSteps(): Step[] {
  const [, section = ''] = /^### Making a report\n(.*?)^## /ms.exec(readFileSync('README.md', 'utf8')) ?? []
  return [...section.matchAll(/(?:^([^\n]*)\n\n)?^```(\w+)\n(.*?)^```/gms)].map(
    ([, before = '', language, text = '']) => {
      if (language === 'sh') return { kind: 'commands', lines: text.trim().split('\n') }
      const path = /`([^`]+)`[^`]*$/.exec(before)?.[1] ?? ''
      expect(path, before).toMatch(/^data\/demo\//)
      return { kind: 'file', path, isAddition: before.includes('at the end of'), text }
    },
  )
}

/** `npx leadsheet report new x  # why` -> `['report', 'new', 'x']` */
function argumentsIn(line: string): string[] {
  const [, words = ''] = /^npx leadsheet (.*?)(?:\s+#.*)?$/.exec(line) ?? []
  return words.split(/\s+/)
}

test('a report is made, looked at and sent by following the README', async () => {
  const cwd = folderWith()
  const env: Record<string, string> = {}
  const run = async (args: readonly string[]): Promise<void> => {
    const { status, stderr } = await runLeadsheet(args, { cwd, env })
    expect(status, `${args.join(' ')}: ${stderr}`).toBe(0)
  }
  await run(['demo'])
  let preview = ''
  for (const step of readSteps()) {
    if (step.kind === 'file') {
      const file = join(cwd, step.path)
      mkdirSync(dirname(file), { recursive: true })
      if (step.isAddition) appendFileSync(file, step.text)
      else writeFileSync(file, step.text)
      for (const data of ['sample', 'real']) {
        const state: unknown = await (await fetch(`${preview}state?data=${data}`)).json()
        expect(state, step.path).not.toHaveProperty('mistake')
      }
      continue
    }
    for (const line of step.lines) {
      const [, name, value] = /^export (\w+)=(\S+)/.exec(line) ?? []
      if (name !== undefined && value !== undefined) env[name] = value
      else if (line.includes('--watch')) preview = await startPreview(argumentsIn(line), { cwd, env })
      else await run(argumentsIn(line))
    }
  }

  const outbox = join(cwd, 'data/demo/outbox')
  const [letter = ''] = readdirSync(outbox).filter((name) => name.includes('industries-you'))
  const mail = await PostalMime.parse(readFileSync(join(outbox, letter)))
  expect(mail.subject).toMatch(/^Industries, week \d+: \d+ new/)
  expect(mail.html).toContain('For the Monday round.')
  expect(mail.html).toMatch(/New leads by industry.*B2B.*Won by country/s)
  expect(mail.text).toMatch(/NEW LEADS BY INDUSTRY\n.*Mean score/s)
  expect(mail.attachments.map(({ filename }) => filename)).toContainEqual(
    expect.stringMatching(/^industries-by-industry-.*\.xlsx$/),
  )
})

test('the picture of the preview is there', () => {
  expect(existsSync('docs/preview.png')).toBe(true)
})

async function startPreview(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const child = startLeadsheet([...args, '--port', '0'], options)
  for await (const text of child.stdout ?? []) {
    const [url] = /http:\S+/.exec(String(text)) ?? []
    if (url !== undefined) return url
  }
  throw new Error('the preview has ended')
}
