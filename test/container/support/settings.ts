/** Checks that the program accepts the settings in a file for operators. */
import { join } from 'node:path'
import { type Config, requireDaemon } from '../../../src/config/config.ts'
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
  const root = folderWith(files)
  const moved = Object.entries({ ...readImage().env, ...env }).map(([name, value]) => [
    name,
    files[value] === undefined ? value : join(root, value),
  ])
  const config = loadConfig({ env: Object.fromEntries(moved), cwd: root })
  requireDaemon(config, true)
  return config
}
