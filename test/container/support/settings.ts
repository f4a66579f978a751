/** Checks that the program accepts the settings in a file for operators. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../../src/config/config.ts'
import { requireDaemon } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { folderWith } from '../../support/folder.ts'
import { readImage } from './image.ts'

/**
 * Loads the settings of the daemon in the image, with this environment.
 * @param files settings and secrets by their path in the container
 * @throws LeadsheetError config_*
 */
export function settingsWith(
  env: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Config {
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
