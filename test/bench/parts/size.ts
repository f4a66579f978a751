/** Measures what an installation takes on the disk without Node, and how many packages it asks for by name. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Part } from '../measurement.ts'

const ROOT = join(import.meta.dirname, '../../..')

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly dev?: boolean; readonly dependencies?: Readonly<Record<string, string>> }>
  >
}

export const SIZE: Part = {
  subjects: ['size'],
  async measure({ fewest }, add) {
    const { packages }: Lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
    const kept = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true)
    const bytes = kept.reduce((sum, [path]) => sum + sizeOf(join(ROOT, path)), 0)
    add('size installed', fewest, bytes / 1e6)
    add('size direct', fewest, Object.keys(packages['']?.dependencies ?? {}).length)
    return null
  },
}

/** Adds up the files of a package without the packages below it; 0 if it is not installed. */
function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.parentPath.includes('/node_modules/', folder.length))
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0)
}
