/** Goldens that hold both what is asked and what is answered: write a question, renew the file, and read it. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Finished, RunOptions } from '../leadsheet.ts'
import { runWarm } from './warm-leadsheet.ts'

const ROOT = join(import.meta.dirname, '../../..')
const PROMPT = '$ '
/** A command of the program, after variables of its environment. Other lines are for the shell. */
const PROGRAM = /^((?:[A-Z_]+=\S* )*)npx leadsheet ?(.*)$/
const RESULT = '> '

/** The texts that differ from run to run, and what stands for them. */
const CHANCE: readonly (readonly [what: RegExp, instead: string])[] = [
  [/(?<=127\.0\.0\.1:)(?!8080\b)\d{4,5}/g, 'PORT'],
  [/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'UUID'],
  [/(?<=\d{8}T\d{6}Z-)[0-9a-f]{6}/g, 'ID'],
  [/[0-9a-v]{40}(?=@)|(?<=\bpl_)[0-9a-f]{16}\b/g, 'ID'],
  [/(?<=-)[0-9a-f]{8}(?=\.eml)/g, 'ID'],
  [/\b\d+\.\d (MB|s)\b/g, 'N $1'],
  [/(?<=; run )\S+/g, 'RUN'],
  [/\b\d+ rules hold, \d+ MB/g, 'N rules hold, N MB'],
  [/none of \d+ finds/g, 'none of N finds'],
  [/(?<=\.tmp-)\d+/g, 'PID'],
  [/process \d+ on [^,\s]+/g, 'process PID on HOST'],
]

/**
 * Runs the commands of a golden file again, those of the program and those of a shell, one after the other, and
 * compares what they say. Words that belong together stand between single quotes. The folder of the run is called FOLDER.
 * @param known names for further values that differ from run to run; in a command such a name stands for its value
 */
export async function checkTranscript(
  file: string,
  options: RunOptions,
  known: Readonly<Record<string, string>> = {},
): Promise<string> {
  const commands = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith(PROMPT) ? [line.slice(PROMPT.length)] : []))
  const parts: string[] = []
  for (const command of commands) {
    const meant = Object.entries(known).reduce((text, [name, value]) => text.replaceAll(name, value), command)
    const { status, stdout, stderr } = await runLine(meant, options)
    const end = status === 0 ? '' : `[exit status ${status}]\n`
    parts.push(`${PROMPT}${command}\n${stdout}${stderr}${end}`)
  }
  const names = [...Object.entries(known), ['FOLDER', options.cwd], ['PROGRAM', ROOT]] as const
  const named = names.reduce((text, [name, value]) => text.replaceAll(value, name), parts.join('\n'))
  const text = CHANCE.reduce((told, [what, instead]) => told.replaceAll(what, instead), named)
  await expect(text).toMatchFileSnapshot(file)
  expect(text).not.toContain('bug in leadsheet')
  return text
}

async function runLine(line: string, { cwd, env }: RunOptions): Promise<Finished> {
  const [, variables = '', call] = PROGRAM.exec(line) ?? []
  if (call === undefined) return spawnSync('sh', ['-c', line], { cwd, encoding: 'utf8' })
  const args = (call.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/s, '$1'))
  const own = [...variables.matchAll(/(\w+)=(\S*)/g)].map(([, name, value]) => [name, value])
  return runWarm(args, { cwd, env: { ...env, ...Object.fromEntries(own) } })
}

/**
 * Compares the results of a golden file with those that its inputs have now. An input is a paragraph, and the
 * lines of its result stand below it, each after `> `.
 */
export async function checkExamples(
  file: string,
  resultOf: (input: string) => readonly string[] | Promise<readonly string[]>,
): Promise<void> {
  const inputs = readFileSync(file, 'utf8')
    .split('\n\n')
    .map((part) => part.split('\n').filter((line) => line !== '' && !line.startsWith(RESULT)))
  const parts: string[] = []
  for (const lines of inputs) {
    const results = await resultOf(lines.join('\n'))
    parts.push([...lines, ...results.map((line) => `${RESULT}${line}`)].join('\n'))
  }
  expect(inputs.length).toBeGreaterThan(3)
  await expect(`${parts.join('\n\n')}\n`).toMatchFileSnapshot(file)
}
