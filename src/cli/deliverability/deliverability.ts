/**
 * The checks of `leadsheet doctor` whether receivers will trust our mails: SPF, the key of the signature, and DMARC, as
 * the DNS has them, and the size of the mails. What a receiver thinks of a mail, only a sent one tells.
 */
import { dkimOf } from '../../app/configured-mail.ts'
import { type CheckResult, fail, ok, warn } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'
import { shellCommand } from '../../errors.ts'
import { VENDORS } from '../../mail/http/http-transport.ts'
import { isMailApi, mailWayOf } from '../../mail/mail-url.ts'
import { buildMessage, domainOf } from '../../mail/message.ts'
import type { Db } from '../../store/db/store.ts'
import { readLastMessages } from '../../store/outbox/stored-message.ts'
import { checkSignature } from '../installation-checks.ts'
import { type AskDns, LOOKUPS_MAX, proposeSpf, readSpf } from './spf.ts'

interface Provider {
  readonly name: string
  /** Matches the protocol and the host of `mail.url`. */
  readonly url: RegExp
  /** The domain that the SPF record of a customer includes. */
  readonly include: string
  /** The text before our domain in the envelope sender of the provider; null if that is a domain of the provider. */
  readonly envelope?: string | null
  /** The usual names of its DKIM keys; none if it chooses names by chance. */
  readonly selectors: readonly string[]
  /** The page that shows the DNS records of the keys. */
  readonly page?: string
}

/**
 * learn.microsoft.com/defender-office-365/email-authentication-dkim-configure,
 * support.google.com/a/answer/174124, docs.aws.amazon.com/ses/latest/dg/mail-from.html, and
 * resend.com/docs/dashboard/domains/introduction
 */
const PROVIDERS: readonly Provider[] = [
  {
    name: 'Microsoft 365',
    url: /^graph:|\/\/(?:smtp\.office365\.com|.*\.mail\.protection\.outlook\.com)$/,
    include: 'spf.protection.outlook.com',
    selectors: ['selector1', 'selector2'],
    page: 'https://security.microsoft.com/dkimv2',
  },
  {
    name: 'Google',
    url: /^gmail:|\/\/smtp(?:-relay)?\.gmail\.com$/,
    include: '_spf.google.com',
    selectors: ['google'],
    page: 'https://admin.google.com, Apps, Google Workspace, Gmail, Authenticate email,',
  },
  {
    name: 'Amazon SES',
    url: /^ses:|\/\/email-smtp[.-].*\.amazonaws\.com$/,
    include: 'amazonses.com',
    envelope: null,
    selectors: [],
  },
  {
    name: 'Resend',
    url: /^resend:|\/\/smtp\.resend\.com$/,
    include: 'amazonses.com',
    envelope: 'send.',
    selectors: ['resend'],
    page: 'https://resend.com/domains',
  },
]

/**
 * The proof that SPF or DKIM will give: the domain, whether receivers will find that it passes (null if that is not
 * known), and the result to print (null for none).
 */
type Proof = readonly [domain: string, passes: boolean | null, result: CheckResult | null]

/** Domains of which the DNS of the Internet knows nothing (RFC 2606), and names without a dot. */
const NOBODYS = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|invalid|localhost)$|^[^.]*$/

/** Yields nothing, and asks nothing, without a mail server or a provider, and for a domain of examples. */
export async function* checkDeliverability(
  { mail }: Pick<Config, 'mail'>,
  ask: AskDns,
): AsyncGenerator<CheckResult> {
  const way = wayOf(mail)
  if (way === null || NOBODYS.test(way.from)) return
  const { from } = way
  try {
    const proofs: Proof[] = []
    for (const check of [checkSpf, checkKey]) {
      const proof = await check(way, ask)
      proofs.push(proof)
      if (proof[2] !== null) yield proof[2]
    }
    yield await checkDmarc(way, ask, proofs)
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException
    if (code === undefined) throw thrown
    const remedy = `see that this machine can ask the DNS, then ${shellCommand('doctor')} again`
    yield warn('DNS', `it cannot be asked about ${from}: ${message}`, remedy)
  }
}

type Way = NonNullable<ReturnType<typeof wayOf>>

/** Returns how mails leave, as the settings say. */
function wayOf(mail: Config['mail']) {
  const { url, from, bounces } = mail
  const { protocol, hostname } = new URL(url?.reveal() ?? 'file:')
  if (from === null || mailWayOf({ protocol }) === null) return null
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const domain = domainOf(from).toLowerCase()
  const provider = PROVIDERS.find((each) => each.url.test(`${protocol}//${host}`)) ?? null
  // APIs take no envelope sender.
  const sender = isMailApi({ protocol }) ? from : (bounces.address?.replace('{id}', 'id') ?? from)
  return {
    from: domain,
    host,
    /** Null for a mail server of one's own. */
    provider,
    /** The domain of the envelope sender; null if it is not ours. */
    envelope:
      provider?.envelope === undefined
        ? domainOf(sender).toLowerCase()
        : provider.envelope && provider.envelope + domain,
    key: dkimOf(mail),
  }
}

/** A mail server of one's own is not looked for in the record, because the address from which it sends is not known. */
async function checkSpf({ from, host, provider, envelope: domain }: Way, ask: AskDns): Promise<Proof> {
  if (domain === null) {
    const found = `${provider?.name} sends from a domain of its own, for which SPF passes; with a MAIL FROM domain below ${from}, set there, it would align`
    return [from, null, ok('SPF', found)]
  }
  const { records, faults, included, lookups, letsAll } = await readSpf(ask, domain)
  const term = provider === null ? 'ip4:ADDRESS-OF-THE-SERVER' : `include:${provider.include}`
  const publish = `publish this TXT record at ${domain}: ${proposeSpf(records, term)}`
  const replace = `in place of its SPF record, ${publish}`
  const counted = `${lookups} of ${LOOKUPS_MAX} lookups`
  if (records.length === 0)
    return [domain, false, warn('SPF', `${domain} has no SPF record: nobody knows who may send`, publish)]
  if (records.length > 1)
    return [domain, false, fail('SPF', `${domain} has ${records.length} SPF records`, replace)]
  if (faults.length > 0) {
    const found = `the record of ${domain} has faults: ${faults.join('; ')}`
    const remedy = 'take out what is wrong or sends no mail, or write its networks (ip4:, ip6:) in its place'
    // A receiver that finds the sender before a fault takes no notice of it.
    return [domain, null, fail('SPF', found, remedy)]
  }
  if (letsAll) return [domain, true, fail('SPF', `${domain} lets everybody send (+all)`, replace)]
  if (provider === null) {
    const found = `${domain} has a record, ${counted}; whether it lets ${host} send is not seen from here`
    return [domain, null, ok('SPF', found)]
  }
  const { name, include } = provider
  return included.has(include)
    ? [domain, true, ok('SPF', `${domain} lets ${name} send, ${counted}`)]
    : [domain, null, warn('SPF', `${domain} does not name ${name}`, replace)]
}

async function checkKey({ from, provider, key }: Way, ask: AskDns): Promise<Proof> {
  if (key !== null) {
    const result = await checkSignature(key, ask)
    return [key.domain.toLowerCase(), result.status === 'ok', result]
  }
  const names = provider?.selectors.map((selector) => `${selector}._domainkey.${from}`) ?? []
  for (const name of names)
    if ((await ask(name)).some((text) => /(?:^|;)\s*p=[^;\s]/.test(text)))
      return [from, true, ok('signature', `${name} is found`)]
  const found = `no key of ${provider?.name} is found under the usual name ${names.join(' or ')}`
  const remedy = `publish the records that ${provider?.page} shows, and turn the signature on there`
  return [from, null, names.length === 0 ? null : warn('signature', found, remedy)]
}

/** RFC 7489. A domain without a record is under that of the nearest domain above it that has one. */
async function checkDmarc({ from }: Way, ask: AskDns, proofs: readonly Proof[]): Promise<CheckResult> {
  const labels = from.split('.')
  for (const domain of labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))) {
    const texts = await ask(`_dmarc.${domain}`)
    const records = texts.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text))
    if (records.length > 0) return judgeDmarc(from, domain, records, proofs)
  }
  const found = `${from} has no DMARC record, which Gmail and Yahoo want of those who send much`
  return warn('DMARC', found, `publish this TXT record at _dmarc.${from}: v=DMARC1; p=none`)
}

/** @param domain where the records stand: `from`, or a domain above it */
function judgeDmarc(
  from: string,
  domain: string,
  [record = '', ...others]: readonly string[],
  proofs: readonly Proof[],
): CheckResult {
  const tags: Partial<Record<string, string>> = Object.fromEntries(
    record.split(';').map((tag) => tag.split('=').map((part) => part.trim())),
  )
  const policy = ((domain !== from && tags.sp) || tags.p || 'no policy').toLowerCase()
  const isPolicy = /^(?:none|quarantine|reject)$/.test(policy)
  const says = `_dmarc.${domain} says ${policy}`
  if (others.length > 0 || !isPolicy) {
    const wrong = isPolicy ? 'and has more than one record' : 'expected p=none, quarantine or reject'
    const right = isPolicy ? record : 'v=DMARC1; p=none'
    return fail('DMARC', `${says}, ${wrong}`, `publish only this TXT record at _dmarc.${domain}: ${right}`)
  }
  const results = proofs.map(([proven, passes], index) => {
    const [name, mode] = index === 0 ? ['SPF', tags.aspf] : ['DKIM', tags.adkim]
    if (passes === false) return { aligns: false, words: `${name} does not pass` }
    // Relaxed alignment is within the organisation, for which the domain of the record stands.
    const isNear = `.${proven}`.endsWith(`.${domain}`) || `.${domain}`.endsWith(`.${proven}`)
    if (mode === 's' ? proven !== from : !isNear)
      return { aligns: false, words: `${name} is of ${proven}, which does not align` }
    return { aligns: passes, words: passes ? `${name} aligns` : `whether ${name} passes is not known` }
  })
  const found = `${says} of mails from ${from}: ${results.map(({ words }) => words).join(', ')}`
  if (results.some(({ aligns }) => aligns)) return ok('DMARC', found)
  if (results.some(({ aligns }) => aligns === null))
    return ok('DMARC', `${found}; ${shellCommand('report test NAME --round-trip')} shows it`)
  const remedy = `have SPF or DKIM pass for ${from}, best DKIM: set mail.dkim, or let the mail server sign`
  return (policy === 'none' ? warn : fail)('DMARC', found, remedy)
}

/** Gmail shows no more of an HTML (www.spamresource.com/2022/01/what-is-gmail-clipping-and-what-to-do.html). */
const HTML_BYTES = 102_000
const MESSAGES = 20

/** Checks the sizes of the last messages of reports. Yields nothing if there are none. */
export async function* checkSizes(db: Db, { mail }: Pick<Config, 'mail'>): AsyncGenerator<CheckResult> {
  let html = 0
  let whole = 0
  for await (const message of readLastMessages(db, MESSAGES)) {
    html = Math.max(html, Buffer.byteLength(message.html))
    whole = Math.max(whole, (await buildMessage(message, dkimOf(mail))).length)
  }
  if (whole === 0) return
  const { protocol } = new URL(mail.url?.reveal() ?? 'file:')
  const vendorBytes = VENDORS[protocol]?.maxBytes ?? Number.POSITIVE_INFINITY
  const maxBytes = Math.min(mail.maxMb * 1e6, vendorBytes)
  const limit = `${maxBytes === vendorBytes ? protocol : 'mail.max_mb'} allows ${maxBytes / 1e6} MB`
  const found = `the largest HTML of the last mails has ${Math.ceil(html / 1e3)} kB (Gmail shows 102 kB), the largest mail ${(whole / 1e6).toFixed(1)} MB (${limit})`
  if (html > HTML_BYTES) yield warn('size', found, 'take blocks or rows out of the report')
  else if (whole > maxBytes) yield warn('size', found, 'take attachments out of the report')
  else yield ok('size', found)
}
