/** Files of ours that run by themselves, in a process or a thread: `.ts` as they are written, `.js` as they are built. */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @param besideUrl the `import.meta.url` of who starts it
 * @param name from there, without what comes after the dot: `snapshot/child`
 */
export function programFile(besideUrl: string, name: string): string {
  return fileURLToPath(new URL(`${name}${extname(besideUrl)}`, besideUrl))
}
