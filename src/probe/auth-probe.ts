/**
 * Finds out how the upstream expects the API key, for example in which header. The key is sent only after a
 * request without a key was refused. The forms (such as a header) that the refusal names are tried first,
 * then the usual forms.
 */

import { basicOf } from '../upstream/client/authorize.ts'
import { findRecords } from '../upstream/values/json.ts'
import type { Asker, Auth, Reply } from './ask.ts'
import { evidenceOf, type Finding } from './ask.ts'

const AUTHORIZATION = 'Authorization'
const ANOTHER_KEY = 'leadsheet-probes-with-a-wrong-key'
const HEADER_FORMS = [
  'X-Api-Key',
  'Api-Key',
  'X-Auth-Token',
  'X-Api-Token',
  'X-Access-Token',
  'X-Token',
] as const
const QUERY_FORMS = ['api_key', 'apikey', 'api_token', 'key', 'access_token', 'token', 'apiKey'] as const
const REFUSED_TEXT =
  /unauthori[sz]ed|unauthenticated|not authenticated|authentication (is )?required|(missing|invalid|no|provide|requires?)( an?| your| valid)? ?(api)?[ _-]?(key|token|credentials)|access denied/i

/**
 * Returns whether an answer asks for an API key. Some upstreams do so with a status other than 401 and 403.
 */
export function wantsKey({ status, headers, body }: Reply): boolean {
  if (status === 401 || status === 403 || status === 407) return true
  if (status >= 300 && status < 400) return /log-?in|sign-?in|auth/i.test(headers.location ?? '')
  if (status === 404 || status >= 500 || findRecords(body) !== null) return false
  return REFUSED_TEXT.test(shortText(body))
}

/**
 * Returns the forms in which to send the key, the most promising first. HTTP Basic comes first if the key has
 * a colon. The forms that the refusal `challenge` names come next, and then all other usual forms.
 */
function authForms(challenge: Reply, key: string): Auth[] {
  const said = shortText(`${challenge.headers['www-authenticate'] ?? ''} ${shortText(challenge.body)}`)
  const scheme = /^\s*([A-Za-z][\w-]*)/.exec(String(challenge.headers['www-authenticate'] ?? ''))?.[1]
  const named = [...said.matchAll(/\b(x-[a-z]+(?:-[a-z]+)*|[a-z]+(?:-[a-z]+)*-(?:key|token))\b/gi)]
    .map((match) => match[1] ?? '')
    .filter((name) => /key|token|auth|secret|app/i.test(name) && !/request|correlation|trace/i.test(name))
  const queries = QUERY_FORMS.filter((name) => new RegExp(`\\b${name}\\b`, 'i').test(said))
  const standard = [
    inHeader(AUTHORIZATION, 'Bearer {key}'),
    inHeader(AUTHORIZATION, '{key}'),
    inHeader(AUTHORIZATION, 'Token {key}'),
    inHeader(HEADER_FORMS[0]),
    inHeader(HEADER_FORMS[1]),
    inHeader(AUTHORIZATION, 'ApiKey {key}'),
    inHeader(AUTHORIZATION, 'Token token={key}'),
    ...['Zoho-oauthtoken', 'Api-Token', 'OAuth-Token'].map((scheme) =>
      inHeader(AUTHORIZATION, `${scheme} {key}`),
    ),
    inHeader(AUTHORIZATION, 'Basic {basic}'),
    ...HEADER_FORMS.slice(2).map((name) => inHeader(name)),
    ...QUERY_FORMS.map(inQuery),
  ]
  const first = [
    ...(key.includes(':') ? [inHeader(AUTHORIZATION, 'Basic {basic}')] : []),
    ...(scheme === undefined ? [] : schemeForms(scheme)),
    ...[...new Set(named)].map((name) => inHeader(name)),
    ...queries.flatMap((name) => (/header/i.test(said) ? [inHeader(name), inQuery(name)] : [inQuery(name)])),
  ]
  return distinct([...first, ...standard])
}

/**
 * Tries each form of sending the key, at an address that refused a request without a key. Returns null if no
 * form is accepted. Otherwise the asker sends the key in the accepted form in all later requests.
 */
export async function findAuth(
  asker: Asker,
  challenge: Reply,
  key: string,
): Promise<{ finding: Finding; reply: Reply } | null> {
  for (const form of authForms(challenge, key)) {
    asker.auth = form
    const reply = await asker.get(challenge.url)
    if (wantsKey(reply) || reply.status >= 500) continue
    // An error other than 404 may mean that the upstream does not read the key in this form at all. A request
    // with a wrong key would then get the same answer.
    const isOdd = reply.status >= 400 && reply.status !== 404
    if (isOdd && !(await refusesAnother(asker, challenge, form))) continue
    asker.auth = form
    return {
      reply,
      finding: {
        place: 'auth',
        value: authText(form),
        confidence: reply.status < 300 || isOdd ? 'proved' : 'likely',
        evidence: `${challenge.request} -> ${challenge.status} ${isOdd ? 'with another key' : 'without a key'}, ${reply.status} with it in this form`,
      },
    }
  }
  asker.auth = 'none'
  return null
}

/**
 * Sends a wrong key in this form. If the upstream refuses the wrong key, it really reads the key in this
 * form.
 */
async function refusesAnother(asker: Asker, challenge: Reply, form: Auth): Promise<boolean> {
  if (form === 'none') return false
  const url = new URL(challenge.url)
  if (form.query !== undefined) url.searchParams.set(form.query, ANOTHER_KEY)
  const value = form.value.replace('{key}', ANOTHER_KEY).replace('{basic}', basicOf(ANOTHER_KEY))
  asker.auth = form.query === undefined ? { ...form, value } : 'none'
  return wantsKey(await asker.get(url))
}

/** Returns the finding for an upstream that answers without a key. */
export function openFinding(reply: Reply): Finding {
  return {
    place: 'auth',
    value: 'none',
    confidence: 'proved',
    evidence: `${evidenceOf(reply)} without any key: whoever reaches this address can read it`,
  }
}

export function authText(auth: Auth): string {
  if (auth === 'none') return 'none'
  return auth.query === undefined ? `${auth.header}: ${auth.value}` : `?${auth.query}={key}`
}

function schemeForms(scheme: string): Auth[] {
  const form = /^basic$/i.test(scheme) ? 'Basic {basic}' : `${scheme} {key}`
  return [inHeader(AUTHORIZATION, form)]
}

function inHeader(header: string, value = '{key}'): Auth {
  return { header, value, headers: {} }
}

function inQuery(query: string): Auth {
  return { header: AUTHORIZATION, value: '{key}', query, headers: {} }
}

function distinct(forms: readonly Auth[]): Auth[] {
  // Compares the forms in order to drop duplicates. The case matters in names of parameters, but not in names
  // of headers.
  const keyOf = (form: Auth): string =>
    form !== 'none' && form.query === undefined ? authText(form).toLowerCase() : authText(form)
  const first = new Map(forms.toReversed().map((form) => [keyOf(form), form]))
  return [...new Set(forms.map(keyOf))].flatMap((key) => first.get(key) ?? [])
}

function shortText(body: unknown): string {
  return (typeof body === 'string' ? body : (JSON.stringify(body) ?? '')).slice(0, 2_000)
}
