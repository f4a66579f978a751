/** A program that only brings a store to the schema of a version, after a backup: `node upgrade-store.ts FILE SOURCES`. */
import { join } from 'node:path'

const [file = '', sources = ''] = process.argv.slice(2)
const { upgradeIfOlder } = await import(join(sources, 'store/backup/upgrade.ts'))
const { openStore } = await import(join(sources, 'store/open.ts'))

await upgradeIfOlder(file, {
  program: '0.2.0',
  now: () => new Date(),
  tell: () => {},
  signal: new AbortController().signal,
})
await (await openStore(file, new Date())).close()
