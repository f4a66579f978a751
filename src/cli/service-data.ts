/** Where the reference service keeps its data. */
import { resolve } from 'node:path'

/** Relative to the working directory; what `--data` is if it is not given. */
export const SERVICE_DIR = './data/service'

export function serviceFile(dataDir: string): string {
  return resolve(dataDir, 'service.db')
}
