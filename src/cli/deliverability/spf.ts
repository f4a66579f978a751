/** Reads SPF records (RFC 7208) with all that they include, and finds which addresses they let send. */
import { getServers } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { BlockList, isIP, isIPv6 } from 'node:net'

/**
 * Asks the DNS. The pieces of a text are joined. A name that is not there, or has no such record, gives none.
 * @throws Error with the code of node:dns, such as ESERVFAIL; ETIMEOUT or ECANCELLED if nobody answers in time
 */
export type AskDns = (name: string, type: 'A' | 'AAAA' | 'MX' | 'TXT') => Promise<readonly string[]>

/** The time for all questions together. */
const LIMIT_MS = 5_000
const NOTHING_THERE = ['ENOTFOUND', 'ENODATA', 'EBADNAME']

/** @param servers such as `127.0.0.1:53`; those of this machine if absent */
export function createAskDns(servers = getServers(), limitMs = LIMIT_MS): AskDns {
  const resolver = new Resolver({ timeout: limitMs / 4, tries: 2 })
  resolver.setServers(servers)
  AbortSignal.timeout(limitMs).addEventListener('abort', () => resolver.cancel())
  return async (name, type) => {
    try {
      if (type === 'TXT') return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))
      if (type === 'MX') return (await resolver.resolveMx(name)).map(({ exchange }) => exchange)
      return await (type === 'A' ? resolver.resolve4(name) : resolver.resolve6(name))
    } catch (thrown) {
      const { code = 'no answer' } = thrown as NodeJS.ErrnoException
      if (NOTHING_THERE.includes(code)) return []
      throw Object.assign(new Error(`${name} ${type}: ${code}`), { code })
    }
  }
}

export const LOOKUPS_MAX = 10
const VOIDS_MAX = 2

/**
 * What a record says of a sender: `+` lets it send, `?` is said if the record does not name it, and `unknown` if that
 * depends on more than its address. Of a term, `+` says that it fits the sender, and `none` that it is no term.
 */
type Result = '+' | '-' | '~' | '?' | 'unknown' | 'none'

interface Walk {
  readonly ask: AskDns
  readonly addresses: readonly string[]
  /** Why receivers find the record wrong (permerror), one sentence each. */
  readonly faults: string[]
  /** The terms of the domain's own record that are the cause, such as `include:gone.example`. */
  readonly broken: Set<string>
  /** The domains that are included, at any depth. */
  readonly included: Set<string>
  /** The questions to the DNS that receivers count (RFC 7208, 4.6.4), and those to which there was nothing. */
  lookups: number
  voids: number
  letsAll: boolean
}

export interface Spf extends Readonly<Walk> {
  /** The records of the domain itself, which should be exactly one. */
  readonly records: readonly string[]
  readonly result: Result
}

/**
 * Reads the record of a domain. Throws what `AskDns` throws.
 * @param addresses those of the sender; it may send if one of them may
 */
export async function readSpf(ask: AskDns, domain: string, addresses: readonly string[]): Promise<Spf> {
  const none = { faults: [], broken: new Set<string>(), included: new Set<string>() }
  const walk: Walk = { ...none, ask, addresses, lookups: 0, voids: 0, letsAll: false }
  const records = await findRecords(ask, domain)
  if (records.length > 1) walk.faults.push(`${domain} has ${records.length} SPF records`)
  const result = records.length === 1 ? await readRecord(walk, String(records[0]), [domain]) : '?'
  const { lookups, voids, faults } = walk
  if (lookups > LOOKUPS_MAX) faults.push(`${lookups} lookups, and receivers make ${LOOKUPS_MAX}`)
  if (voids > VOIDS_MAX) faults.push(`${voids} lookups find nothing, and receivers allow ${VOIDS_MAX}`)
  return { ...walk, records, result }
}

async function findRecords(ask: AskDns, domain: string): Promise<string[]> {
  return (await ask(domain, 'TXT')).filter((text) => /^v=spf1(?: |$)/i.test(text))
}

const TERM =
  /^([-+~?]?)((?:all|include|a|mx|ptr|ip4|ip6|exists)(?=$|[:/])|[a-z][\w.-]*(?==))[:=]?([^/]*)(.*)$/i

/** @param path the domains whose records lead here, that of this record last */
async function readRecord(walk: Walk, record: string, path: readonly string[]): Promise<Result> {
  const texts = record.trim().split(/ +/).slice(1)
  const isRedirect = (text: string) => /^redirect=/i.test(text)
  let result: Result | null = null
  // The record that `redirect` names is asked last, wherever it stands (RFC 7208, 6.1).
  for (const text of [...texts.filter((each) => !isRedirect(each)), ...texts.filter(isRedirect)]) {
    const faultsBefore = walk.faults.length
    const [, sign, kind = '', value = '', prefixes = ''] = TERM.exec(text) ?? []
    const found = await readTerm(walk, path, { kind: kind.toLowerCase(), value, prefixes })
    if (found === 'none') walk.faults.push(`${path.at(-1)} says ${text}, which is no term of SPF`)
    if (path.length === 1 && walk.faults.length > faultsBefore) walk.broken.add(text)
    if (isRedirect(text) || found === 'unknown') result ??= found
    if (found === '+') result ??= (sign || '+') as Result
    if (kind.toLowerCase() !== 'all') continue
    if (sign === '' || sign === '+') walk.letsAll = true
    break
  }
  return result ?? '?'
}

async function readTerm(
  walk: Walk,
  path: readonly string[],
  { kind, value, prefixes }: { readonly kind: string; readonly value: string; readonly prefixes: string },
): Promise<Result> {
  if (kind === '' || kind === 'all') return kind === '' ? 'none' : '+'
  if (kind === 'ip4') return isIP(value) === 4 ? fits(walk, [value], prefixes) : 'none'
  if (kind === 'ip6') return isIPv6(value) ? fits(walk, [value], prefixes && `/${prefixes}`) : 'none'
  if (!/^(?:include|redirect|a|mx|ptr|exists)$/.test(kind)) return '?'
  if (value === '' && /^(?:include|redirect|exists)$/.test(kind)) return 'none'
  walk.lookups++
  if (kind === 'ptr' || value.includes('%')) return 'unknown'
  const name = (value || String(path.at(-1))).toLowerCase()
  if (kind === 'include' || kind === 'redirect') return follow(walk, path, name)
  const hosts = kind === 'mx' ? (await walk.ask(name, 'MX')).slice(0, LOOKUPS_MAX) : [name]
  const types = kind === 'exists' ? (['A'] as const) : (['A', 'AAAA'] as const)
  const asked = hosts.flatMap((host) => types.map((type) => walk.ask(host, type)))
  const found = (await Promise.all(asked)).flat()
  if (found.length === 0) walk.voids++
  return kind === 'exists' && found.length > 0 ? '+' : fits(walk, found, prefixes)
}

async function follow(walk: Walk, path: readonly string[], domain: string): Promise<Result> {
  const records = path.includes(domain) ? [] : await findRecords(walk.ask, domain)
  walk.included.add(domain)
  if (records.length === 1) return readRecord(walk, String(records[0]), [...path, domain])
  const has = records.length > 1 ? `${records.length} SPF records` : 'no SPF record'
  const what = path.includes(domain) ? 'leads back to itself' : `has ${has}`
  walk.faults.push(`${domain}, which ${path.at(-1)} includes, ${what}`)
  return '?'
}

/** @param prefixes such as `/24`, `/24//64` or `//64` */
function fits({ addresses }: Walk, found: readonly string[], prefixes: string): Result {
  const [all, four = '32', six = '128'] = /^(?:\/(\d{1,2}))?(?:\/\/(\d{1,3}))?$/.exec(prefixes) ?? []
  if (all === undefined || Number(four) > 32 || Number(six) > 128) return 'none'
  const family = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')
  const networks = new BlockList()
  for (const each of found) networks.addSubnet(each, Number(isIPv6(each) ? six : four), family(each))
  return addresses.some((address) => networks.check(address, family(address))) ? '+' : '?'
}

/** Returns one record with what the present ones say, without what is broken, and with one more mechanism. */
export function proposeSpf({ records, broken }: Spf, mechanism: string | null): string {
  const texts = records.flatMap((record) => record.trim().split(/ +/).slice(1))
  const isEnd = (text: string) => /^(?:.?all$|redirect=)/i.test(text)
  const end = texts.find((text) => isEnd(text) && !/^\+?all$/i.test(text) && !broken.has(text)) ?? '~all'
  const kept = texts.filter((text) => !isEnd(text) && !broken.has(text))
  // A receiver takes the first term that fits the address.
  return ['v=spf1', ...new Set([...(mechanism === null ? [] : [mechanism]), ...kept]), end].join(' ')
}
