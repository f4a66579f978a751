/** An installation that logs in with a refresh token, and the two servers that it asks. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderWith } from '../../support/folder.ts'
import { CLIENT, startTokenServer } from '../../support/network/token-server.ts'
import { startUpstream } from '../../support/upstream.ts'

interface Wanted {
  readonly leads?: number
  /** Further settings of `api`, a line each, and below them those beside it. */
  readonly settings?: string
  readonly files?: Readonly<Record<string, string>>
}

/** Opens an installation that reads pages of 10 leads. */
export async function openWithLogin({ leads = 0, settings = '', files = {} }: Wanted = {}) {
  const opened = new AsyncDisposableStack()
  const server = opened.use(await startTokenServer())
  const upstream = opened.use(await startUpstream(leads))
  upstream.allows = server.allows
  const cwd = folderWith({
    'leadsheet.yaml': `
api:
  url: ${upstream.url}
  page_size: 10
  oauth: { token_url: "${server.url}", grant: refresh_token, client_id: ${CLIENT.id}, client_secret_file: s, refresh_token_file: r }
${settings}`,
    s: CLIENT.secret,
    r: server.consent(),
    ...files,
  })
  return {
    server,
    upstream,
    cwd,
    /** Does something before the answer to the request for a page, counted from 1. */
    beforePage(page: number, work: () => void): void {
      upstream.faults.push(...Array.from({ length: page - 1 }, () => () => false), () => void work())
    },
    consentAgain: () => writeFileSync(join(cwd, 'r'), server.consent()),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
