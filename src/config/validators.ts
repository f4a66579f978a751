/**
 * The rules for values, in addition to their types. A function `…Fault` returns null for a valid value. For
 * an invalid value it returns the reason, which completes an error such as `expected a time zone; REASON`.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { ATTACHED_FORMATS, ATTACHED_LISTS, BLOCKS } from '../domain/choices.ts'
import { readMailbox } from '../domain/mailbox.ts'
import { type CamelCase, camelCase } from '../domain/names.ts'
import { mailApiFault, mailWayOf } from '../mail/mail-url.ts'
import { hasWordsIn, LANGUAGES } from '../report/words/catalogue.ts'
import { COUNTRIES, DATE_ENTRY, REGIONS } from '../schedule/holidays.ts'
import { parseExpression, WORDS } from '../schedule/timing.ts'
import { isDecodable } from '../store/db/place.ts'
import { isOpenHttp } from '../upstream/client/authorize.ts'
import { Secret, type SecretKind } from './secrets.ts'
import { isTree, nearest, pathText, valueAt } from './setting-path.ts'

/** Checks a schedule: five cron fields, or words such as `every weekday at 07:00`. */
function scheduleFault(text: string): string | null {
  const parsed = parseExpression(text, [])
  if (!('fault' in parsed)) return null
  const meant = parsed.unknown === undefined ? null : nearest(parsed.unknown, WORDS)
  return meant === null ? parsed.fault : `${parsed.fault}; did you mean ${meant}?`
}

/**
 * Accepts only names of the IANA time zone database. An offset such as `+01:00` is refused, because it does
 * not follow daylight saving time.
 */
function timeZoneFault(name: string): string | null {
  try {
    if (/^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name })) return null
  } catch {
    // Intl throws a RangeError for an unknown zone.
  }
  const meant = nearest(name, Intl.supportedValuesOf('timeZone'))
  return meant === null ? 'there is no zone of that name' : `did you mean ${meant}?`
}

/** Checks an entry of the holidays: a region, or a date that a name may follow. */
function holidayFault(entry: string): string | null {
  const [, day] = DATE_ENTRY.exec(entry) ?? []
  if (day !== undefined) return z.iso.date().safeParse(day).success ? null : 'there is no such date'
  if (REGIONS.includes(entry.toUpperCase())) return null
  if (/^\d/.test(entry)) return ''
  const [meant, ...others] = regionsLike(entry.toUpperCase())
  if (meant === undefined) return 'a country is its ISO code, such as DE; write DE-? to see its parts'
  return others.length === 0 ? `did you mean ${meant}?` : `${meant} has ${others.join(', ')}`
}

/** Finds the region that `DE-BAY`, `UK-SCT` or `GERMANY` may mean; if none is alike, all of its country. */
function regionsLike(code: string): readonly string[] {
  const [start = '', ...parts] = code.split('-')
  const names = new Intl.DisplayNames('en', { type: 'region' })
  const nameOf = (country: string) => names.of(country) ?? country
  // Intl has the name of a country for its other codes too, such as UK for GB.
  const name = nearest(/^[A-Z]{2}$/.test(start) ? nameOf(start) : start, COUNTRIES.map(nameOf))
  const country = COUNTRIES.find((each) => nameOf(each) === name)
  const own = REGIONS.filter((region) => region.split('-')[0] === country)
  const meant = parts[0] === '?' ? null : nearest([country, ...parts].join('-'), own)
  return meant === null ? own : [meant]
}

/** Checks that a text is a language tag (BCP 47), and that reports can be written in its language. */
export function localeFault(tag: string): string | null {
  try {
    return hasWordsIn(tag) ? null : `reports are written in ${new Intl.ListFormat('en').format(LANGUAGES)}`
  } catch {
    // Intl throws a RangeError if the text is not a language tag.
    return 'it is no such tag'
  }
}

export function leadUrlFault(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'it must begin with http:// or https://'
  const placeholders = text.match(/{[^{}]*}/g) ?? []
  if (placeholders.length === 0) return '{id} is missing'
  const unknown = placeholders.find((placeholder) => placeholder !== '{id}')
  return unknown === undefined ? null : `${unknown} is no placeholder`
}

/**
 * Makes the rule for a URL of HTTP, which holds no user or password.
 * @param otherFault finds what else is wrong with it
 */
function httpUrlFault(otherFault: (url: URL) => string | null) {
  return (text: string): string | null => {
    const url = URL.parse(text)
    if (url === null) return 'it is no URL'
    if (!/^https?:$/.test(url.protocol)) return `the protocol is ${url.protocol}`
    return otherFault(url) ?? (url.username || url.password ? 'it must not hold a user or password' : null)
  }
}

function openFault(url: URL, what: string): string | null {
  return isOpenHttp(url) ? `http:// would send ${what} unencrypted over the internet to ${url.host}` : null
}

export const apiUrlFault = httpUrlFault((url) => openFault(url, 'the API key'))
export const tokenUrlFault = httpUrlFault((url) => openFault(url, 'secrets'))

/** Finds a line break or an invisible sign, which was copied along with the key. */
export function apiKeyFault(key: string): string | null {
  const [sign] = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.exec(key) ?? []
  if (sign === undefined) return null
  const code = sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  const what = /[\r\n]/.test(sign) ? 'a line break' : `the invisible character U+${code}`
  return `there is ${what} after ${key.indexOf(sign)} characters`
}

/** Matches the host names of this machine: `localhost`, `127.x.x.x` and `[::1]`. */
export const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/**
 * Checks the address to which alerts are sent. Without TLS, anyone on the network could read the address and
 * send messages to it.
 */
export const alertUrlFault = httpUrlFault((url) => {
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    return 'http:// shows it to everyone on the way'
  return url.hash === '' ? null : 'what stands behind # is never sent'
})

/**
 * Makes the rule for a URL of a mail server or of a folder.
 * @param serverFault finds what is wrong with one that is no folder
 */
function mailPlaceFault(serverFault: (url: URL) => string | null) {
  return (text: string): string | null => {
    const url = URL.parse(text)
    if (url === null) return 'it is no URL'
    if (!isDecodable(url.username + url.password + url.pathname)) return 'a % of its own is written %25'
    if (url.protocol !== 'file:') return serverFault(url)
    return url.host === '' ? null : 'a file: URL must not name a host'
  }
}

export const mailUrlFault = mailPlaceFault((url) => {
  const way = mailWayOf(url)
  if (way === null) return 'the protocol is another'
  if (url.hostname === '' && way.host === null) return 'the host is missing'
  if (way.login === 'password' && url.password === '') return 'the key before the host is missing'
  if (way.login === 'oauth' && url.password !== '') return 'mail.oauth stands in place of a password'
  return mailApiFault(url)
})

export const bouncesUrlFault = mailPlaceFault((url) => {
  if (!/^imaps?:$/.test(url.protocol)) return 'the protocol is another'
  if (url.hostname === '') return 'the host is missing'
  return url.username === '' ? 'the user before the host is missing' : null
})

/** Checks an envelope sender, in which `{id}` stands for the id of a message. */
export function returnAddressFault(text: string): string | null {
  const read = readMailbox(text.replace('{id}', '0'.repeat(40)))
  if ('fault' in read) return read.fault
  if (/[{}]/.test(read.address)) return '{id} may stand in it once'
  return read.name === '' ? null : 'write the address without a name'
}

/**
 * @param kinds the types that a key may have, or their curves
 * @param bitsMin the least length of an RSA key
 */
export function privateKeyFault(pem: string, kinds: readonly string[], bitsMin = 0): string | null {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    return /ENCRYPTED/.test(pem) ? 'it is locked by a passphrase' : 'it is none'
  }
  const { namedCurve, modulusLength = bitsMin } = key.asymmetricKeyDetails ?? {}
  const kind = namedCurve ?? String(key.asymmetricKeyType)
  if (!kinds.includes(kind)) return `it is of the type ${kind}`
  return modulusLength < bitsMin ? `it has ${modulusLength} bits` : null
}

/**
 * Accepts `charts`, or a file name such as `top_leads.csv`: the name of a list or query of the report, with a
 * known format as its extension.
 */
export function attachmentFault(name: string): string | null {
  if (name === 'charts') return null
  const [, list, format] = /^([\w-]+)\.(\w+)$/.exec(name) ?? []
  if (list === undefined) return 'it is neither'
  if (!ATTACHED_FORMATS.some((known) => known === format)) return `.${format} is no format of it`
  const meant = nearest(list, ATTACHED_LISTS)
  // The names of queries are unknown here. A name with a hyphen may be a query; any other name that resembles
  // a list is a mistake.
  return meant === null || meant === list || list.includes('-') ? null : `did you mean ${meant}.${format}?`
}

/*
 * The kinds of values that settings have. Each `error` names the accepted values, and is printed after the
 * word "expected".
 */

/**
 * The schema of a text that passes the rule `fault`. Its error names `accepted` and the rule's reason, if that
 * is not empty.
 */
export function text(
  accepted: string,
  fault: (value: string, setting: string) => string | null = () => null,
) {
  return z
    .string({ error: accepted })
    .trim()
    .min(1, { error: accepted, abort: true })
    .refine((value) => fault(value, '') === null, {
      error: ({ input, path = [] }) => {
        const setting = pathText(path.filter((key) => typeof key !== 'symbol'))
        return [accepted, fault(String(input), setting)].filter(Boolean).join('; ')
      },
    })
}

export function pattern(regex: RegExp, error: string) {
  return z.string({ error }).regex(regex, { error })
}

export function wholeNumber(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/**
 * The schema of a list without repeated items. If the items are groups, only their setting `key` must not
 * repeat. A repeated item is reported even if there are other mistakes.
 */
export function listOf<T extends z.ZodType>(item: T, accepted: string, key?: string) {
  return z.array(item, { error: accepted }).superRefine(
    (items, context) => {
      const pathIn = (item: unknown) => (key !== undefined && isTree(item) ? [key] : [])
      const values = items.map((item) => valueAt(item, pathIn(item)))
      // Addresses are compared in lower case, because mail servers ignore the case of an address.
      const compared = values.map((value) =>
        key === 'address' && typeof value === 'string' ? value.toLowerCase() : value,
      )
      for (const [index, input] of values.entries()) {
        if (input === undefined || compared.indexOf(compared[index]) === index) continue
        context.addIssue({
          code: 'custom',
          path: [index, ...pathIn(items[index])],
          message: 'each only once',
          input,
        })
      }
    },
    { when: ({ value }) => Array.isArray(value) },
  )
}

/** The schema of a text that is wrapped in `Secret`, which keeps its secret parts out of output and logs. */
export function secret(
  accepted: string,
  fault?: (value: string) => string | null,
  kind: SecretKind = 'whole',
) {
  return text(accepted, fault)
    .transform((value) => new Secret(value))
    .meta({ secret: kind })
}

/** The facts that the reference shows of a setting besides its description. */
interface SettingFacts {
  /** The environment variable that gives the setting. */
  readonly env?: string
  readonly examples?: readonly unknown[]
  /** True for a group that counts as a single setting, such as a filter. */
  readonly isWhole?: true
}

/** Describes a setting. Its default, if it has one, is in the schema. */
export function setting<T extends z.ZodType>(description: string, schema: T, facts: SettingFacts = {}): T {
  return schema.meta({ description, ...facts })
}

/** The schema of a group. Its settings have the same names in the program as in the settings file. */
export function group<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, { error: 'a group of settings, indented below the name' })
}

/**
 * The schema of a group whose settings have camelCase names in the program. An absent setting is null in the
 * program. A setting `…_file` is left out, because its file was already read.
 */
export function section<T extends z.ZodRawShape>(shape: T) {
  return named(group(shape))
}

/** Does the same as `section`, but for a group that has additional rules. */
export function named<T extends z.ZodRawShape>(settings: z.ZodObject<T, z.core.$strict>) {
  const names = Object.keys(settings.shape).filter((name) => !name.endsWith('_file'))
  return settings.transform((given) => {
    const entries = names.map((name) => [camelCase(name), valueAt(given, [name]) ?? null])
    return Object.fromEntries(entries) as Named<T>
  })
}

type Named<T extends z.ZodRawShape> = {
  readonly [K in keyof T as K extends `${string}_file` ? never : CamelCase<K>]: Present<z.output<T[K]>>
}

type Present<V> = V extends undefined ? null : V extends readonly (infer Item)[] ? readonly Item[] : V

export const path = text('a path')
export const schedule = text(
  'cron of five fields (minute hour day month weekday), or words such as "every weekday at 07:00"',
  scheduleFault,
)
export const timeZone = text('a time zone of the IANA database, such as Europe/Berlin', timeZoneFault)
/**
 * The schema of a locale. `de-de` becomes `de-DE`, so that recipients with either spelling get the same
 * issue.
 */
export const locale = text('a locale such as en-GB or de-DE', localeFault).transform((tag) =>
  new Intl.Locale(tag).toString(),
)
const HOLIDAY = 'a region such as DE-BY, or a date such as 2026-12-25 that a name may follow'
/** The schema of an entry of the holidays. YAML reads `- 2026-12-24: Company holiday` as a group. */
const holiday = z
  .union([z.string(), z.record(z.string(), z.string({ error: 'a name' }))], { error: HOLIDAY })
  .refine((entry) => typeof entry === 'string' || Object.keys(entry).length === 1, {
    error: 'one date, with a - before it',
  })
  .transform((entry) => (typeof entry === 'string' ? entry : Object.entries(entry).flat().join(': ')))
  .pipe(text(HOLIDAY, holidayFault))
  .transform((entry) => (DATE_ENTRY.test(entry) ? entry : entry.toUpperCase()))
export const holidays = z.union([holiday.transform((entry) => [entry]), listOf(holiday, 'a list')], {
  error: ({ input }) =>
    [HOLIDAY, typeof input === 'string' && holidayFault(input)].filter(Boolean).join('; '),
})
export const slug = pattern(
  /^[a-z0-9]+(-[a-z0-9]+)*$/,
  'lower-case letters, digits and single hyphens, such as daily or weekly-emea',
)
export const address = text('an e-mail address, such as ana@example.com', (value, setting) => {
  const read = readMailbox(value)
  if ('fault' in read) return read.fault && `${read.fault} of ${setting}`
  return read.written === value ? null : 'write the name as a setting of its own'
})
export const mailbox = text('an e-mail address, or Name <address>', (value, setting) => {
  const read = readMailbox(value)
  return 'fault' in read ? (read.fault ? `${read.fault} of ${setting}` : 'this is neither') : null
})
export const pipelineIds = listOf(text('the id of a pipeline'), 'a list of pipeline ids')
export const blocks = listOf(
  z.enum(BLOCKS, { error: `one of ${BLOCKS.join(', ')}` }),
  'a list of blocks',
).min(1, { error: 'at least one block' })
