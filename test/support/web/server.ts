/** A server of pages on a free port for one test, and a log whose lines the test reads. */
import { onTestFinished } from 'vitest'
import { type Log, openLog } from '../../../src/log.ts'
import { openWebPages } from '../../../src/report/preferences/page.ts'
import { openWeb, type WebServer } from '../../../src/web/server/server.ts'
import { TEMPLATES_FOLDER } from '../report.ts'
import { SILENT } from '../syncing.ts'

export const webPages = await openWebPages(TEMPLATES_FOLDER)

type Parts =
  Parameters<typeof openWeb> extends [infer Options, ...infer Rest] ? [Partial<Options>, ...Rest] : never

/** Opens a server with these options and parts, which ends with the test. By default it logs nothing. */
export async function openTestWeb(...[options, ...parts]: Parts): Promise<WebServer> {
  const usual = { host: '127.0.0.1', port: 0, publicUrl: null, pages: webPages, log: SILENT }
  const server = await openWeb({ ...usual, ...options }, ...parts)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

export async function openReadLog(secrets: readonly string[] = []): Promise<{ log: Log; lines: string[] }> {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  return { log: await openLog({ level: 'debug', pretty: false, color: false, secrets, write }), lines }
}
