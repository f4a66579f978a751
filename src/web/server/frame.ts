/** What stands around every page of the dashboard: the way to the others, who looks, and what became of what they did. */

import { readFileSync } from 'node:fs'
import { LeadsheetError } from '../../errors.ts'
import { createCompiler } from '../../report/render/compile-template.ts'
import { readTemplateFiles } from '../../report/render/template-files.ts'
import type { Store } from '../../store/db/store.ts'
import type { AddRoutes } from './server.ts'
import type { Visitor } from './signed-in-user.ts'

const PLACES = [
  { path: '/', name: 'Status' },
  { path: '/archive', name: 'Archive' },
  { path: '/pipelines', name: 'Pipelines' },
  { path: '/agents', name: 'Agents' },
] as const

export type Place = (typeof PLACES)[number]['path']

export interface Frame {
  /** Of the browser's tab, and the heading. */
  readonly title: string
  readonly places: readonly { readonly path: string; readonly name: string; readonly isHere: boolean }[]
  /** What forms of the page bring along; null where nothing can be done. */
  readonly acts: { readonly formToken: string; readonly back: string } | null
  readonly told: { readonly text: Said; readonly isWrong: boolean } | null
}

interface Asked {
  readonly visitor: Visitor | null
  readonly url: string
}

/** @param place under which of the places the page belongs; null for none */
export function frameOf({ visitor, url }: Asked, title: string, place: Place | null): Frame {
  const session = visitor?.session ?? null
  const told = visitor?.told ?? null
  return {
    title,
    places: PLACES.map(({ path, name }) => ({ path, name, isHere: path === place })),
    acts: session && { formToken: session.formToken, back: url },
    told: told && { text: said(told.text), isWrong: told.isWrong },
  }
}

/** Around a page for who may not see the others. */
export function bareFrame(title: string): Frame {
  return { title, places: [], acts: null, told: null }
}

/* The pages of the dashboard, compiled once: each a template of `templates/web/` inside the frame that all share. */

export interface DashboardPages {
  readonly stylesheet: string
  /** @throws LeadsheetError report_template */
  page<View extends object>(name: string): (view: View, frame: Frame) => string
  /** A part of the status page by itself. */
  statusPart<View extends object>(name: string): (view: View) => string
}

const FOLDER = 'dashboard'
/** Folders of the templates that pages include: `{{> time}}` is `parts/time.hbs`, `{{> status-head}}` is `status/head.hbs`. */
const PARTIALS = [
  { folder: `${FOLDER}/parts`, prefix: '' },
  { folder: `${FOLDER}/status`, prefix: 'status-' },
] as const

/**
 * @param folder of the templates that come with the program
 * @throws LeadsheetError report_template
 */
export async function openDashboardPages(folder: string): Promise<DashboardPages> {
  const files = await readTemplateFiles(folder, null)
  const take = (name: string, from = FOLDER) => {
    const found = files.find(from, name)
    if (found) return found
    throw new LeadsheetError('report_template', `template ${from}/${name} is missing`, {
      hint: 'Restore the templates as they came with the program.',
    })
  }
  const partials = new Map([
    ['frame', take('frame.hbs')] as const,
    ...PARTIALS.flatMap(({ folder: from, prefix }) =>
      files.list(from).map((name) => [`${prefix}${name.replace(/\.hbs$/, '')}`, take(name, from)] as const),
    ),
  ])
  const compile = createCompiler('html', partials)
  const styles = files.list(FOLDER).filter((name) => name.endsWith('.css') && name !== 'dashboard.css')
  return {
    stylesheet: ['dashboard.css', ...styles.sort()].map((name) => take(name).text).join('\n'),
    statusPart: (name) => compile(take(`${name}.hbs`, `${FOLDER}/status`)),
    page: (name) => {
      const fill = compile(take(`${name}.hbs`))
      return (view, frame) => fill({ ...view, frame })
    },
  }
}

/* Sentences as the program says them everywhere, with commands between backticks, as `{{> inline-code}}` shows them. */

export type Said = readonly { readonly text: string; readonly isCode: boolean }[]

export function said(sentence: string): Said {
  return sentence
    .split('`')
    .map((text, index) => ({ text, isCode: index % 2 === 1 }))
    .filter(({ text }) => text !== '')
}

/* What the pages of the dashboard are made of. */

export interface DashboardDeps {
  readonly store: Store
  readonly pages: DashboardPages
  readonly now: () => Date
  /** IANA zone of the installation, in which times are told. */
  readonly timeZone: string
  /** Whether who sees the pages may also act: false where no token is set. */
  readonly canAct: boolean
}

/* What the pages load beside themselves; nothing of it is secret, so that the sign-in page has it too. */

const FILES = [
  ['/live.js', 'text/javascript; charset=utf-8', new URL('../browser/live.js', import.meta.url)],
  ['/icon.svg', 'image/svg+xml', new URL('../browser/icon.svg', import.meta.url)],
] as const

/** The files are read now: an upgrade may take them away while the daemon runs. */
export function assetRoutes({ stylesheet }: DashboardPages): AddRoutes {
  const files = FILES.map(([path, type, file]) => ({ path, type, content: readFileSync(file) }))
  return (app) => {
    app.get('/dashboard.css', (_, reply) => reply.type('text/css; charset=utf-8').send(stylesheet))
    for (const { path, type, content } of files) app.get(path, (_, reply) => reply.type(type).send(content))
  }
}
