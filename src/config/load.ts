/**
 * Settings file and environment to one Config. The environment wins over the file; every mistake of both is
 * reported in one error. Nothing outside this folder reads the process's environment.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { LeadsheetError } from '../errors.ts'
import { type Config, configFrom } from './config.ts'
import { type Draft, draftSettings } from './draft.ts'
import { CONFIG_VARIABLE, type Environment, readEnvironment } from './environment.ts'
import { schemaAt } from './json-schema.ts'
import { explainIssue } from './mistakes.ts'
import { type ProfileData, readProfile } from './profile-file.ts'
import { leavesOf, pathText, type SettingTree, setValueAt, valueAt } from './setting-path.ts'
import { type Settings, settingsSchema } from './settings.ts'
import { DEFAULT_FILE, type FilledSetting, readSettingsFile } from './settings-file.ts'
import { warningsOf } from './warnings.ts'

export interface LoadOptions {
  /** The file that `--config` names, relative to `cwd`. */
  readonly file?: string | undefined
  readonly env?: Environment
  readonly cwd?: string
}

/** @throws LeadsheetError config_invalid, with a line for each mistake */
export function loadConfig({ file, env = process.env, cwd = process.cwd() }: LoadOptions = {}): Config {
  const problems: string[] = []
  const name = file ?? (env[CONFIG_VARIABLE] || defaultFile(cwd))
  const settingsFile = name === null ? null : readSettingsFile(name, cwd, env, problems)
  const draft = draftSettings(settingsFile, readEnvironment(env, problems), cwd)
  problems.push(...draft.problems)

  const filled = settingsFile?.filled ?? []
  takeNumbers(draft.tree, filled)
  const parsed = settingsSchema.safeParse(draft.tree)
  const alreadyTold = new Set(
    filled.filter((setting) => !setting.isComplete).map(({ path }) => pathText(path)),
  )
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.filter((key) => typeof key !== 'symbol')
    if (!alreadyTold.has(pathText(path))) problems.push(...explainIssue(issue, draft.tree, draft.findOrigin))
  }
  if (!parsed.success || problems.length > 0) throw invalid(problems)

  return deepFreeze({
    file: settingsFile?.path ?? null,
    ...configFrom(
      parsed.data,
      profileOf(parsed.data, draft, cwd),
      (path) => draft.findOrigin(path, 'value').base,
    ),
    warnings: [...draft.warnings, ...warningsOf(parsed.data, draft, settingsFile)],
    sources: sourcesOf(draft),
  })
}

function profileOf({ api: { profile } }: Settings, draft: Draft, cwd: string): ProfileData | null {
  if (profile === undefined) return null
  const origin = draft.findOrigin(['api', 'profile'], 'value')
  if (typeof profile !== 'string') {
    return { data: profile, origin: `${origin.place}  api.profile`, problem: null }
  }
  return readProfile(resolve(origin.base, profile), cwd)
}

function defaultFile(cwd: string): string | null {
  return existsSync(resolve(cwd, DEFAULT_FILE)) ? DEFAULT_FILE : null
}

/** A variable is text; where a whole number is wanted, its digits are one. */
function takeNumbers(tree: SettingTree, filled: readonly FilledSetting[]): void {
  for (const { path } of filled) {
    const value = valueAt(tree, path)
    if (typeof value === 'string' && /^\d{1,15}$/.test(value) && schemaAt(path)?.type === 'integer') {
      setValueAt(tree, path, Number(value))
    }
  }
}

function invalid(problems: readonly string[]): LeadsheetError {
  const count = problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`
  return new LeadsheetError(
    'config_invalid',
    `${count} in the settings:\n${problems.map((line) => `  ${line}`).join('\n')}`,
    {
      hint: 'leadsheet.example.yaml shows every setting; `leadsheet config check` tries them without running anything.',
    },
  )
}

/** Lists of plain values count as one setting. */
function sourcesOf(draft: Draft): Record<string, string> {
  const sources: Record<string, string> = {}
  for (const [leaf, value] of leavesOf(draft.tree)) {
    if (value === undefined) continue
    const setting = typeof leaf.at(-1) === 'number' ? leaf.slice(0, -1) : leaf
    const { place, name } = draft.findOrigin(setting, 'value')
    sources[pathText(setting)] = name === pathText(setting) ? place : `${place} ${name}`
  }
  return sources
}

function deepFreeze<T extends object>(value: T): T {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) deepFreeze(item)
  return Object.freeze(value)
}
