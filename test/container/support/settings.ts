/** Checks that the program accepts the settings in a file for operators. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../../src/config/config.ts'
import { requireDaemon } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { folderWith } from '../../support/folder.ts'
import { readImage } from './image.ts'

/** Files of settings and secrets, by their path in the container. */
export type MountedFiles = Readonly<Record<string, string>>

/**
 * Loads the settings of the daemon in the image, with this environment.
 * @throws LeadsheetError config_*
 */
export function settingsWith(env: Readonly<Record<string, string>>, files: MountedFiles): Config {
  const root = folderWith()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content, { mode: 0o600 })
  }
  const moved = Object.entries({ ...readImage().env, ...env }).map(([name, value]) => [
    name,
    files[value] === undefined ? value : join(root, value),
  ])
  const config = loadConfig({ env: Object.fromEntries(moved), cwd: root })
  requireDaemon(config, true)
  return config
}
