/** Where the reference service keeps its data, and what its agents discover. */
import { join, resolve } from 'node:path'

/** Relative to the working directory; what `--data` is if it is not given. */
export const SERVICE_DIR = './data/service'

export const COMPANIES_FILE = join(import.meta.dirname, '../../data/companies.ndjson')

export function serviceFile(dataDir: string): string {
  return resolve(dataDir, 'service.db')
}
