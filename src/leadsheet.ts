/** Reads the version of this program from its package.json. */
import { readFileSync } from 'node:fs'

export function readVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
