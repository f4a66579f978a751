/** Reads SPF records (RFC 7208) with all that they include, and finds whether they let a sender send. */
import { getServers } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { BlockList, isIPv6 } from 'node:net'

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

/** Whether a sender fits; `unknown` if that depends on more than its address. */
type Fit = 'yes' | 'no' | 'unknown'

export interface Spf {
  /** The records of the domain itself, which should be exactly one. */
  readonly records: readonly string[]
  /** Whether they let the sender send. */
  readonly allows: Fit
  /** Why receivers find the record wrong (permerror), one sentence each. */
  readonly faults: readonly string[]
  /** The domains that are included, at any depth. */
  readonly included: ReadonlySet<string>
  /** The questions to the DNS that receivers count (RFC 7208, 4.6.4). */
  readonly lookups: number
  readonly letsAll: boolean
}

const TERM =
  /^([-+~?]?)(all|include|redirect|a|mx|ptr|exists|ip4|ip6)(?:[:=]([^/]+))?(?:\/(\d+))?(?:\/\/(\d+))?$/

/**
 * Reads the record of a domain. Throws what `AskDns` throws.
 * @param addresses those of the sender; it may send if one of them may
 */
export async function readSpf(ask: AskDns, domain: string, addresses: readonly string[]): Promise<Spf> {
  const faults: string[] = []
  const included = new Set<string>()
  let lookups = 0
  let letsAll = false

  async function readRecords(name: string): Promise<Pick<Spf, 'records' | 'allows'>> {
    const records = (await ask(name, 'TXT')).filter((text) => /^v=spf1(?: |$)/i.test(text))
    if (records.length !== 1) faults.push(`${name} has ${records.length} SPF records`)
    let allows: Fit | null = null
    for (const term of records.length === 1 ? records.flatMap(termsOf) : []) {
      const [, sign = '', kind, value = name, ...bits] = TERM.exec(term.toLowerCase()) ?? []
      const isModifier = kind !== 'redirect' && /^[a-z][\w.-]*=/i.test(term)
      const found = isModifier ? 'no' : await readTerm(kind, value, bits).catch(orNoTerm)
      if (found === null) faults.push(`${name} says ${term}, which is no term of SPF`)
      else if (found !== 'no') allows ??= found === 'yes' && /[-~?]/.test(sign) ? 'no' : found
      letsAll ||= kind === 'all' && /^\+?$/.test(sign)
      if (kind === 'all') break
    }
    return { records, allows: allows ?? 'no' }
  }

  /** Null if it is no term. Throws the errors of node:net if an address is none. */
  async function readTerm(
    kind: string | undefined,
    value: string,
    bits: readonly Bits[],
  ): Promise<Fit | null> {
    if (kind === undefined || kind === 'all') return kind === undefined ? null : 'yes'
    if (kind.startsWith('ip')) return fits([value], kind === 'ip6' ? bits.toReversed() : bits)
    if (++lookups > LOOKUPS_MAX || /ptr|exists/.test(kind) || value.includes('%')) return 'unknown'
    if (/include|redirect/.test(kind)) return (await readRecords(included.add(value) && value)).allows
    const hosts = kind === 'mx' ? (await ask(value, 'MX')).slice(0, LOOKUPS_MAX) : [value]
    const asked = hosts.flatMap((host) => [ask(host, 'A'), ask(host, 'AAAA')])
    return fits((await Promise.all(asked)).flat(), bits)
  }

  function fits(found: readonly string[], [four = '32', six = '128']: readonly Bits[]): Fit {
    const family = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')
    const networks = new BlockList()
    for (const each of found) networks.addSubnet(each, Number(isIPv6(each) ? six : four), family(each))
    return addresses.some((address) => networks.check(address, family(address))) ? 'yes' : 'no'
  }

  const { records, allows } = await readRecords(domain)
  if (lookups > LOOKUPS_MAX) faults.push(`more than ${LOOKUPS_MAX} lookups`)
  return { records, allows, faults, included, lookups, letsAll }
}

/** The length of the prefix of a network, such as `24`; absent for an address. */
type Bits = string | undefined

function orNoTerm(thrown: NodeJS.ErrnoException): null {
  if (thrown.code?.startsWith('ERR_')) return null
  throw thrown
}

/** The record that `redirect` names is asked last, wherever it stands (RFC 7208, 6.1). */
function termsOf(record: string): string[] {
  const [, ...terms] = record.trim().split(/ +/)
  const isLast = (term: string) => Number(/^redirect=/i.test(term))
  return terms.toSorted((a, b) => isLast(a) - isLast(b))
}

/** Returns one record with what the present ones say, and with one more mechanism. */
export function proposeSpf(records: readonly string[], mechanism: string): string {
  const terms = records.flatMap(termsOf)
  const isEnd = (term: string) => /^(?:.?all$|redirect=)/i.test(term)
  const end = terms.find((term) => isEnd(term) && !/^\+?all$/i.test(term)) ?? '~all'
  // A receiver takes the first term that fits the address.
  return ['v=spf1', ...new Set([mechanism, ...terms.filter((term) => !isEnd(term))]), end].join(' ')
}
