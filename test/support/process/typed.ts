/** Runs a program on a terminal of its own and types into it. `script` of util-linux makes the terminal. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { COMPILED, isSkipped } from './programs.ts'

const MAIN = join(import.meta.dirname, '../../../src/main.ts')

/** True if this machine can make a terminal. */
export const HAS_TERMINAL = !isSkipped(
  'the program on a terminal',
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux')
    ? null
    : 'apt-get install bsdutils',
)

export function typeTo(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
) {
  const { PATH = '', HOME = '' } = process.env
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env: { PATH, HOME, TZ: 'UTC', TERM: 'xterm', NODE_COMPILE_CACHE: COMPILED, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let screen = ''
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
  })
  const left = once(child, 'close')
  return {
    /**
     * Waits until the screen shows `shown`, after the text that the last call waited for, and then types. \r is Enter,
     * \x03 is Ctrl-C.
     */
    async answer(shown: string, keys: string): Promise<void> {
      while (!screen.includes(shown, seen)) {
        const isOver = await Promise.race([
          left.then(() => true),
          once(child.stdout, 'data').then(() => false),
        ])
        if (isOver && !screen.includes(shown, seen))
          throw new Error(`it ended without showing ${JSON.stringify(shown)}:\n${screen.slice(seen)}`)
      }
      seen = screen.indexOf(shown, seen) + shown.length
      child.stdin.write(keys)
    },
    /** Waits until the program has ended. Returns everything that was on the screen, and the exit status. */
    async finished(): Promise<{ readonly screen: string; readonly status: number | null }> {
      const [status] = await left
      // Removes the sequences that move the cursor.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it begins with one
      return { screen: screen.replace(/\x1b\[[\d;]*[A-Za-z]/g, '').replaceAll('\r', ''), status }
    },
  }
}
