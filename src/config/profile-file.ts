/** The profile of the upstream as data: YAML from its own file, or the mapping that stands in the settings. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parse } from 'yaml'
import { errorText } from '../errors.ts'
import { isTree } from './setting-path.ts'
import { readFault } from './settings-file.ts'

/** What it says is judged by whoever opens the upstream. */
export interface ProfileData {
  readonly data: unknown
  /** The file, or the place in the settings, for messages. */
  readonly origin: string
  /** Why there are no data: told when the profile is needed, for `leadsheet probe` may be about to write it. */
  readonly problem: string | null
}

/** @param path absolute */
export function readProfile(path: string, cwd: string): ProfileData {
  const origin = relative(cwd, path) || path
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    return { data: null, origin, problem: `cannot be read: ${readFault(error)}` }
  }
  try {
    const data: unknown = parse(text)
    return { data, origin, problem: isTree(data) ? null : 'is empty, or no mapping of names to values' }
  } catch (error) {
    return { data: null, origin, problem: `is not valid YAML: ${errorText(error).split('\n')[0]}` }
  }
}
