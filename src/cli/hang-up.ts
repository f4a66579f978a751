/** SIGHUP, which has a daemon read its settings anew, and also says that the terminal was closed in which it runs. */
import { closeSync, openSync } from 'node:fs'

/** @param reload called where nobody has closed the terminal; else the process is told to stop */
export function onHangUp(reload: () => void): Disposable {
  const listener = (): void => {
    if (hasTerminalGone()) process.kill(process.pid, 'SIGTERM')
    else reload()
  }
  process.on('SIGHUP', listener)
  return { [Symbol.dispose]: () => void process.off('SIGHUP', listener) }
}

/** Nobody would look after the daemon then. */
function hasTerminalGone(): boolean {
  if (!process.stderr.isTTY) return false
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return false
  } catch {
    return true
  }
}
