/** What a terminal shows of commands that are called one after the other, for golden files. */
import { join } from 'node:path'
import type { RunOptions } from '../leadsheet.ts'
import { runWarm } from './warm-leadsheet.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** Words that belong together stand between single quotes. The folder of the run is called FOLDER. */
export async function transcribe(commands: readonly string[], options: RunOptions): Promise<string> {
  const parts: string[] = []
  for (const command of commands) {
    const args = (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1'))
    const { status, stdout, stderr } = await runWarm(args, options)
    parts.push(
      `$ npx leadsheet ${command}\n${stdout}${stderr}${status === 0 ? '' : `[exit status ${status}]\n`}`,
    )
  }
  return parts.join('\n').replaceAll(options.cwd, 'FOLDER').replaceAll(ROOT, 'PROGRAM')
}
