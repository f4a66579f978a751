/** What stands around every page of the window: the way to the others, and who looks. */

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
}

/** @param place under which of the places the page belongs */
export function frameOf(title: string, place: Place): Frame {
  return { title, places: PLACES.map(({ path, name }) => ({ path, name, isHere: path === place })) }
}
