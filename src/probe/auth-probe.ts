/**
 * Finds out how the upstream expects the API key, for example in which header. The key is sent only after a
 * request without a key was refused. The forms (such as a header) that the refusal names are tried first,
 * then the usual forms.
 */

import { basicOf } from '../upstream/client/authorize.ts'
import { findRecords } from '../upstream/values/json.ts'
import type { Asker, Auth, Reply } from './ask.ts'
import { evidenceOf, type Finding, finding } from './ask.ts'
import { KEY_HEADERS, KEY_PARAMS } from './candidates.ts'

const BASIC = 'Basic {basic}'
/** The most usual first. */
const KEY_SCHEMES = [
  BASIC,
  'Token token={key}',
  'ApiKey {key}',
  'Zoho-oauthtoken {key}',
  'Api-Token {key}',
  'OAuth-Token {key}',
]
const ANOTHER_KEY = 'leadsheet-probes-with-a-wrong-key'
const REFUSED_TEXT =
  /unauthori[sz]ed|unauthenticated|not authenticated|authentication (is )?required|(missing|invalid|no|provide|requires?)( an?| your| valid)? ?(api)?[ _-]?(key|token|credentials)|(key|token|credentials) (is |are |was |has )?(invalid|missing|expired)|access denied/i

/** Some upstreams do so with a status other than 401 and 403. */
export function wantsKey({ status, headers, body }: Reply): boolean {
  if (status === 401 || status === 403 || status === 407) return true
  if (status >= 300 && status < 400) return /log-?in|sign-?in|auth/i.test(headers.location ?? '')
  if (status === 404 || status >= 500 || findRecords(body) !== null) return false
  return REFUSED_TEXT.test(shortText(body))
}

/** HTTP Basic first if the key has a colon, then the forms that `challenge` names, then the usual ones. */
function authForms(challenge: Reply, key: string): Auth[] {
  const said = shortText(`${challenge.headers['www-authenticate'] ?? ''} ${shortText(challenge.body)}`)
  const scheme = /^\s*([A-Za-z][\w-]*)/.exec(String(challenge.headers['www-authenticate'] ?? ''))?.[1]
  const named = [...said.matchAll(/\b(x-[a-z]+(?:-[a-z]+)*|[a-z]+(?:-[a-z]+)*-(?:key|token))\b/gi)]
    .map((match) => match[1] ?? '')
    .filter((name) => /key|token|auth|secret|app/i.test(name) && !/request|correlation|trace/i.test(name))
  const queries = KEY_PARAMS.filter((name) => new RegExp(`\\b${name}\\b`, 'i').test(said))
  const standard = [
    ...['Bearer {key}', '{key}', 'Token {key}'].map(asAuthorization),
    ...KEY_HEADERS.slice(0, 1).map(inHeader),
    ...KEY_SCHEMES.slice(0, 3).map(asAuthorization),
    inHeaders(KEY_HEADERS.slice(1)),
    ...KEY_PARAMS.map(inQuery),
    ...KEY_SCHEMES.slice(3).map(asAuthorization),
  ]
  const first = [
    ...(key.includes(':') ? [asAuthorization(BASIC)] : []),
    ...(scheme === undefined ? [] : [asAuthorization(/^basic$/i.test(scheme) ? BASIC : `${scheme} {key}`)]),
    ...named.map(inHeader),
    ...queries.flatMap((name) => (/header/i.test(said) ? [inHeader(name), inQuery(name)] : [inQuery(name)])),
  ]
  return distinct([...first, ...standard])
}

/**
 * Null if no form is accepted. Otherwise the asker sends the key in the accepted form from now on. A reply with 403
 * in one form alone means that the key is read, but has not the permission.
 */
export async function findAuth(
  asker: Asker,
  challenge: Reply,
  key: string,
): Promise<{ finding: Finding; reply: Reply } | null> {
  const forms = authForms(challenge, key)
  const forbidden: { form: Auth; reply: Reply }[] = []
  let refused = 0
  for (let form = forms.shift(); form !== undefined; form = forms.shift()) {
    asker.auth = form
    const reply = await asker.ask(challenge.question)
    const isForbidden = reply.status === 403 && challenge.status !== 403
    if (!isForbidden && (wantsKey(reply) || reply.status >= 500)) {
      refused++
      continue
    }
    const several = form === 'none' ? [] : Object.keys(form.headers)
    if (several.length > 0) {
      // One of these headers was read, which is told apart by halves.
      const half = Math.ceil(several.length / 2)
      forms.unshift(...[several.slice(0, half), several.slice(half)].map(inHeaders))
      continue
    }
    if (isForbidden) {
      forbidden.push({ form, reply })
      continue
    }
    // An error other than 404 may mean that the upstream does not read the key in this form at all. A request
    // with a wrong key would then get the same answer.
    const isOdd = reply.status >= 400 && reply.status !== 404
    if (isOdd && !(await refusesAnother(asker, challenge, form))) continue
    asker.auth = form
    const confidence = reply.status < 300 || isOdd ? 'proved' : 'likely'
    const evidence = `${challenge.request} -> ${challenge.status} ${isOdd ? 'with another key' : 'without a key'}, ${reply.status} with it in this form`
    return { reply, finding: finding('auth', authText(form), confidence, evidence) }
  }
  const [only] = forbidden
  const isRead = forbidden.length === 1 && refused > 0
  asker.auth = isRead && only !== undefined ? only.form : 'none'
  if (!isRead || only === undefined) return null
  const evidence = `${challenge.request} -> ${challenge.status} without a key, 403 with it in this form alone`
  return { reply: only.reply, finding: finding('auth', authText(only.form), 'likely', evidence) }
}

/** If the upstream refuses a wrong key, it really reads the key in this form. */
async function refusesAnother(asker: Asker, challenge: Reply, form: Auth): Promise<boolean> {
  if (form === 'none') return false
  const url = new URL(challenge.url)
  if (form.query !== undefined) url.searchParams.set(form.query, ANOTHER_KEY)
  const value = form.value.replace('{key}', ANOTHER_KEY).replace('{basic}', basicOf(ANOTHER_KEY))
  asker.auth = form.query === undefined ? { ...form, value } : 'none'
  return wantsKey(await asker.ask({ ...challenge.question, url }))
}

export function openFinding(reply: Reply): Finding {
  const evidence = `${evidenceOf(reply)} without any key: whoever reaches this address can read it`
  return finding('auth', 'none', 'proved', evidence)
}

export function authText(auth: Auth): string {
  if (auth === 'none') return 'none'
  return auth.query === undefined ? `${auth.header}: ${auth.value}` : `?${auth.query}={key}`
}

function asAuthorization(value: string): Auth {
  return { header: 'Authorization', value, headers: {} }
}

function inHeader(header: string): Auth {
  return { header, value: '{key}', headers: {} }
}

/** Sends the key in several headers at once. */
function inHeaders(names: readonly string[]): Auth {
  const [only] = names
  return names.length === 1 && only !== undefined
    ? inHeader(only)
    : {
        header: 'Authorization',
        value: '',
        headers: Object.fromEntries(names.map((name) => [name, '{key}'])),
      }
}

function inQuery(query: string): Auth {
  return { header: 'Authorization', value: '{key}', query, headers: {} }
}

/** Drops forms that occurred before. Upper and lower case differ in names of parameters, but not of headers. */
function distinct(forms: readonly Auth[]): Auth[] {
  const texts = forms.map((form) =>
    form !== 'none' && form.query === undefined ? JSON.stringify(form).toLowerCase() : authText(form),
  )
  return forms.filter((_, index) => texts.indexOf(texts[index] ?? '') === index)
}

function shortText(body: unknown): string {
  return (typeof body === 'string' ? body : (JSON.stringify(body) ?? '')).slice(0, 2_000)
}
