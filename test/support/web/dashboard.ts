/**
 * The dashboard on a server of the test, opened from settings as the daemon does, and requests as browsers
 * send them.
 */
import { globalAgent } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { reportOf } from '../../../src/app/configured-reports.ts'
import { schedulesOf } from '../../../src/app/configured-schedules.ts'
import { openConfiguredWeb } from '../../../src/app/configured-web.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { createWebhookIntake } from '../../../src/jobs/events/webhook-intake.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { openTemplates } from '../../../src/report/render/templates.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveStages } from '../../../src/store/leads/stages.ts'
import { folderWith } from '../folder.ts'
import { reportDeps } from '../mail/reports.ts'
import { type Sent, send } from '../network/webhook-receiver.ts'
import { openNewStore, STAGES } from '../store.ts'
import { SILENT } from '../syncing.ts'
import { openReadLog } from './server.ts'

export const TOKEN = 'correct-horse-battery'

/** A Friday. */
export const NOW = new Date('2026-11-20T09:07:00Z')

const templates = await openTemplates('templates')

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
  /** The address of this machine from which it is asked. */
  readonly localAddress?: string
}

export type OpenedDashboard = Awaited<ReturnType<typeof openDashboard>>

/**
 * @param web the lines of the settings below `web:`; by default local with {@link TOKEN}
 * @param more other settings as YAML
 * @param open opens the store
 */
export async function openDashboard(web = `token: ${TOKEN}`, more = '', open = openStaged) {
  const listen = web.includes('listen:') ? [] : ['listen: 127.0.0.1:0']
  const settings = ['web:', ...[...listen, ...web.split('\n')].map((line) => `  ${line}`), more].join('\n')
  const folder = folderWith({ 'leadsheet.yaml': settings })
  const config = loadConfig({ cwd: folder, env: {} })
  const store = await open(join(folder, 'leadsheet.db'), NOW)
  const outbox = join(folder, 'outbox')
  const transport = openTransport(`file:${outbox}`, { log: SILENT })
  const { log, lines } = await openReadLog()
  const schedules = schedulesOf(config).map(({ report, ...schedule }) => ({
    ...schedule,
    leaseName: report === null ? 'sync' : `report:${reportOf(report, config, templates).report.name}`,
    runsAtFirstSight: false,
    run: async () => ({ state: 'done', message: null }) as const,
  }))
  let woken = 0
  const daemon = {
    schedules,
    sinceTickMs: () => 0,
    signal: new AbortController().signal,
    wake: () => {
      woken += 1
    },
    work: { ...reportDeps(store, () => NOW, join(folder, 'archive')), transport, log },
    intake: createWebhookIntake({ store, now: () => NOW, wake: () => undefined }),
  }
  const server = await openConfiguredWeb(config, store, templates, daemon, log)
  if (server === null) throw new Error('the settings of the test want no pages')
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    await transport[Symbol.asyncDispose]()
    await store.close()
  })
  const url = server.url.replace(/0\.0\.0\.0|\[::\]/, '127.0.0.1')
  return {
    url,
    config,
    store,
    /** The folder that test reports and test messages are written to. */
    outbox,
    /** The log of the server, line by line. */
    lines,
    /** Counts how often the daemon was asked to look for due runs. */
    wakes: () => woken,
  }
}

async function openStaged(file: string, now: Date): Promise<Store> {
  const store = await openNewStore(file, now)
  await store.write((trx) => saveStages(trx, STAGES))
  return store
}

/**
 * Sends one request with exactly these headers, which `fetch` would not allow. Redirects are not followed.
 */
export function ask(url: string, { method = 'GET', headers, form, localAddress }: Asked = {}): Promise<Sent> {
  const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
  const body = new URLSearchParams(form).toString()
  return send(url, body, { ...type, ...headers }, { method, localAddress, agent: globalAgent })
}

export const AS_BROWSER = { accept: 'text/html,*/*;q=0.8' }

/** The cookie of a signed-in user, and the CSRF token of the forms. */
export interface SignedIn {
  readonly cookie: string
  readonly formToken: string
}

export async function signIn(url: string, token = TOKEN): Promise<SignedIn> {
  const answer = await post(url, '/sign-in', { token })
  const [cookie = ''] = String(answer.headers['set-cookie']).split(';')
  const page = await ask(`${url}/`, { headers: { ...AS_BROWSER, cookie } })
  const [, formToken = ''] = /name="form_token" value="([^"]*)"/.exec(page.text) ?? []
  return { cookie, formToken }
}

/** Posts a form of a page like a browser. */
export function act(
  url: string,
  path: string,
  { cookie, formToken }: SignedIn,
  form: Readonly<Record<string, string>>,
): Promise<Sent> {
  return post(url, path, { form_token: formToken, back: '/', ...form }, { ...AS_BROWSER, cookie })
}

/** Posts a form as a page of ours. */
export function post(
  url: string,
  path: string,
  form: NonNullable<Asked['form']>,
  headers: Asked['headers'] = {},
): Promise<Sent> {
  const { origin } = new URL(url)
  return ask(`${url}${path}`, { method: 'POST', headers: { origin, ...headers }, form })
}
