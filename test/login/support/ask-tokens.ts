/** Asks for the token of the installation in this folder, and for another one as often as the argument says. */
import { openKeysOf } from '../../../src/app/configured-login.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openLog } from '../../../src/log.ts'

const { signal } = new AbortController()
const log = await openLog({ level: 'error', pretty: false, color: false, secrets: [] })
const keys = openKeysOf(loadConfig(), log)
try {
  for (let left = Number(process.argv[2]); ; left--) {
    const token = await keys.current(signal)
    process.stdout.write(`${token}\n`)
    if (left === 0) break
    await keys.hasOther(token, signal)
  }
} finally {
  await keys.close()
}
