/**
 * A program that only upgrades a store, after a backup: `node upgrade-store.ts FILE SOURCES`. It prints a
 * line for each step.
 */
import { join } from 'node:path'

const { upgradeIfOlder } = await import(join(process.argv[3] ?? '', 'store/backup/upgrade.ts'))

await upgradeIfOlder(process.argv[2] ?? '', {
  program: '0.2.0',
  now: () => new Date(),
  tell: (step: string) => void process.stdout.write(`${step}\n`),
  signal: new AbortController().signal,
})
