/** The profile of the upstream as data: YAML from its own file, or the mapping that stands in the settings. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import { errorText } from '../errors.ts'
import { isTree, type SettingPath } from './setting-path.ts'
import { offsetOf, readFault } from './settings-file.ts'

/** What it says is judged by whoever opens the upstream. */
export interface ProfileData {
  readonly data: unknown
  /** The file, or the place in the settings, for messages. */
  readonly origin: string
  /** What a line about a part begins with: `profile.yaml:3:9  paging.kind`. */
  readonly nameOf: (path: SettingPath, part: 'value' | 'name') => string
  /** Why there are no data: told when the profile is needed, for `leadsheet probe` may be about to write it. */
  readonly problem: string | null
}

/** @param path absolute */
export function readProfile(path: string, cwd: string): ProfileData {
  const origin = relative(cwd, path) || path
  const none = { data: null, origin, nameOf: () => origin }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    return { ...none, problem: `cannot be read: ${readFault(error)}` }
  }
  try {
    const lines = new LineCounter()
    const document = parseDocument(text, { lineCounter: lines })
    if (document.errors[0]) throw document.errors[0]
    const data: unknown = document.toJS()
    const nameOf: ProfileData['nameOf'] = (part, what) => {
      const { line, col } = lines.linePos(offsetOf(document, part, what))
      return `${origin}:${line}:${col}  ${part.join('.') || 'the profile'}`
    }
    return {
      data,
      origin,
      nameOf,
      problem: isTree(data) ? null : 'is empty, or no mapping of names to values',
    }
  } catch (error) {
    return { ...none, problem: `is not valid YAML: ${errorText(error).split('\n')[0]}` }
  }
}
