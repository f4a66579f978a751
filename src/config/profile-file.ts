/** The profile of the upstream as data: YAML from its own file, or the mapping that stands in the settings. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parse } from 'yaml'
import { errorText } from '../errors.ts'
import { isTree, type SettingTree } from './setting-path.ts'
import { readFault } from './settings-file.ts'

/** What it says is judged by whoever opens the upstream. */
export interface ProfileData {
  readonly data: unknown
  /** The file, or the place in the settings, for messages. */
  readonly origin: string
}

/** @param path absolute */
export function readProfile(path: string, cwd: string): ProfileData | { readonly problem: string } {
  const origin = relative(cwd, path) || path
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    return {
      problem: `cannot read ${path}: ${readFault(error)}; \`leadsheet probe URL --write FILE\` makes one`,
    }
  }
  try {
    const data: SettingTree | null = parse(text)
    return isTree(data)
      ? { data, origin }
      : { problem: `${origin} is empty, or no mapping of names to values` }
  } catch (error) {
    return { problem: `${origin} is not valid YAML: ${errorText(error).split('\n')[0]}` }
  }
}
