/** What stands around every page of the window: the way to the others, who looks, and what became of what they did. */
import type { Visitor } from '../visitor.ts'
import { type Said, said } from './said.ts'

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
