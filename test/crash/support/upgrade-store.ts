/** A program that does nothing but an upgrade, with a backup before: `node upgrade-store.ts FILE`. Each step is a line. */
import { upgradeIfOlder } from '../../../src/store/backup/upgrade.ts'

await upgradeIfOlder(process.argv[2] ?? '', {
  program: '0.2.0',
  now: () => new Date(),
  tell: (step) => void process.stdout.write(`${step}\n`),
  signal: new AbortController().signal,
})
