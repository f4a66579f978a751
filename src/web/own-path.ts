/** Where one goes on to after a form: pages of ours alone, whatever a link made of the address. */

export const SIGN_IN = '/sign-in'
const NOWHERE = 'http://leadsheet.invalid'

/** @returns path and query as they are asked for; `/` for what leads anywhere else */
export function ownPath(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return '/'
  const url = URL.parse(wanted, NOWHERE)
  // `/.//elsewhere` is a path here, and the name of a host to a browser that is sent there.
  if (url === null || url.origin !== NOWHERE || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search
}

/** The page on which one signs in to see another. */
export function signInPath(wanted: string): string {
  const to = ownPath(wanted)
  return to === '/' ? SIGN_IN : `${SIGN_IN}?${new URLSearchParams({ to })}`
}
