/** Reads SPF records (RFC 7208) with all that they include. */
import { getServers } from 'node:dns'
import { Resolver } from 'node:dns/promises'

/**
 * Asks the DNS for the texts (TXT) of a name, each with its pieces joined. A name that is not there gives none.
 * @throws Error with the code of node:dns, such as ESERVFAIL; ETIMEOUT or ECANCELLED if nobody answers in time
 */
export type AskDns = (name: string) => Promise<readonly string[]>

/** The time for all questions together. */
const LIMIT_MS = 5_000
const NOTHING_THERE = ['ENOTFOUND', 'ENODATA', 'EBADNAME']

/** @param servers such as `127.0.0.1:53`; those of this machine if absent */
export function createAskDns(servers = getServers(), limitMs = LIMIT_MS): AskDns {
  const resolver = new Resolver({ timeout: limitMs / 4, tries: 2 })
  resolver.setServers(servers)
  AbortSignal.timeout(limitMs).addEventListener('abort', () => resolver.cancel())
  return async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))
    } catch (thrown) {
      const { code = 'no answer' } = thrown as NodeJS.ErrnoException
      if (NOTHING_THERE.includes(code)) return []
      throw Object.assign(new Error(`${name} TXT: ${code}`), { code })
    }
  }
}

export const LOOKUPS_MAX = 10

/** A mechanism, or a modifier. */
const TERM =
  /^(?:[-+~?]?(?:all|(?:a|mx|ptr)(?:[:/].+)?|(?:include|exists):.+|ip4:[\d./]+|ip6:[\da-f:./]+)|[a-z][\w.-]*=.*)$/i
/** The terms that receivers count as questions to the DNS (RFC 7208, 4.6.4). */
const LOOKUP = /^[-+~?]?(?:include|a|mx|ptr|exists)(?:[:/]|$)|^redirect=/i

/** Reads the records of a domain, which should be exactly one. Throws what `AskDns` throws. */
export async function readSpf(ask: AskDns, domain: string) {
  /** The reasons for which receivers find the record wrong (permerror), one sentence each. */
  const faults: string[] = []
  /** The domains that are included, at any depth. */
  const included = new Set<string>()
  let lookups = 0
  let letsAll = false
  const read = async (name: string): Promise<string[]> => {
    const records = (await ask(name)).filter((text) => /^v=spf1(?: |$)/i.test(text))
    if (records.length !== 1) faults.push(`${name} has ${records.length} SPF records`)
    for (const term of records.flatMap(termsOf)) {
      if (!TERM.test(term)) faults.push(`${name} says ${term}, which is no term of SPF`)
      letsAll ||= /^\+?all$/i.test(term)
      if (LOOKUP.test(term)) lookups++
      const [, inner] = /^[-+~?]?(?:include:|redirect=)([^%]+)$/.exec(term.toLowerCase()) ?? []
      if (inner === undefined || lookups > LOOKUPS_MAX) continue
      included.add(inner)
      await read(inner)
    }
    return records
  }
  const records = await read(domain)
  if (lookups > LOOKUPS_MAX) faults.push(`more than ${LOOKUPS_MAX} lookups`)
  return { records, faults, included, lookups, letsAll }
}

function termsOf(record: string): string[] {
  return record.trim().split(/ +/).slice(1)
}

/** Returns one record with what the present ones say, and with one more mechanism. */
export function proposeSpf(records: readonly string[], mechanism: string): string {
  const terms = records.flatMap(termsOf)
  const isEnd = (term: string) => /^(?:.?all$|redirect=)/i.test(term)
  const end = terms.find((term) => isEnd(term) && !/^\+?all$/i.test(term)) ?? '~all'
  // A receiver takes the first term that fits the address.
  return ['v=spf1', ...new Set([mechanism, ...terms.filter((term) => !isEnd(term))]), end].join(' ')
}
