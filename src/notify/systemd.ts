/** Signs of life for systemd, which starts a service anew that gives none for `WatchdogSec`: sd_notify(3). */
import { execFile } from 'node:child_process'

const WITHIN_MS = 10_000

/**
 * Tells systemd that the daemon lives. Node cannot write to the socket of systemd, whose own program does it; where that
 * fails it is told once, since systemd acts by itself.
 */
export function openWatchdog(warn: (message: string) => void): () => void {
  let isToldOf = false
  return () => {
    execFile('systemd-notify', ['WATCHDOG=1'], { timeout: WITHIN_MS }, (error) => {
      if (error === null || isToldOf) return
      isToldOf = true
      warn(`systemd-notify: ${error.message}; systemd will take the daemon for dead (WatchdogSec)`)
    })
  }
}
