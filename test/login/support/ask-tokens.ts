/**
 * Asks for the token of the installation in this folder, and for another one as often as the argument says. With
 * `mail` behind it, asks for the token of mail.oauth.
 */
import { openKeysOf, openOAuthOf } from '../../../src/app/configured-login.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openLog } from '../../../src/log.ts'

const { signal } = new AbortController()
const log = await openLog({ level: 'error', pretty: false, color: false, secrets: [] })
const config = loadConfig()
const { oauth } = config.mail
const keys =
  process.argv[3] === 'mail' && oauth
    ? openOAuthOf('mail.oauth', oauth, config, log)
    : openKeysOf(config, log)
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
