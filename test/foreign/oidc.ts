/** An authorization server of other people, oidc-provider, whose access tokens last 20 s. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess, untilTrue } from './server-process.ts'

export const CLIENT = { id: 'leadsheet', secret: 'a-secret+of/the client' }

export function missingOidc(): string | null {
  const isInstalled = existsSync(join(import.meta.dirname, 'node_modules/oidc-provider'))
  return isInstalled ? null : 'npm ci --prefix test/foreign'
}

interface State {
  readonly pages: number
  readonly refused: number
  readonly tokens: number
  readonly failures: number
}

/** Starts it for the current test. */
export async function startOidc() {
  const server = startProcess(process.execPath, [
    join(import.meta.dirname, 'oidc-process.mjs'),
    CLIENT.id,
    CLIENT.secret,
  ])
  const portIn = (output: string) => /^(\d+)$/m.exec(output)?.[1]
  await untilTrue(server, async () => portIn(server.output) !== undefined)
  const url = `http://127.0.0.1:${portIn(server.output)}`
  const admin = async <T>(name: string, body: unknown = null): Promise<T> =>
    (await fetch(`${url}/admin/${name}`, { method: 'POST', body: JSON.stringify(body) })).json() as T
  return {
    url,
    admin,
    state: () => admin<State>('state'),
    consent: async () => (await admin<{ refreshToken: string }>('consent')).refreshToken,
  }
}
