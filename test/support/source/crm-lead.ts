/** Invented leads for the records in `crm-shapes.txt`, whose head explains the words that stand here. */

const FIRST =
  `Ana Bob Chloé Dmitri Elif Farid Greta Hiro Ines Jonas Kofi Lena Marco Nadia Omar Priya Quinn Rosa Sven
  Tara Uma Viktor Wanda Xin Yusuf Zoe`.split(/\s+/)
const LAST =
  `Ruiz Meyer Laurent Petrov Yilmaz Haddad Olsen Tanaka Sousa Becker Mensah Fischer Rossi Karim Said Nair
  Murphy Lopez Lindqvist Singh Novak Orlov Kowalska Zhang Demir`.split(/\s+/)
const COMPANIES =
  `Northwind Traders|Contoso GmbH|Fabrikam Inc.|Blue Yonder Airlines|Tailspin Toys|Adatum|Litware|
  Proseware, Inc.|Wingtip Toys|Fourth Coffee|Graphic Design Institute|Humongous Insurance|Lucerne Publishing|
  Margie's Travel|Relecloud|Trey Research|Woodgrove Bank|VanArsdel, Ltd.|Wide World Importers|Alpine Ski House|
  Coho Winery|Consolidated Messenger|City Power & Light|Southridge Video|Bellows College|Best For You Organics|
  Liberty's Delightful Sinful Bakery|Munson's Pickles|Nod Publishers|School of Fine Art`.split(/\|\s*/)
const TITLES =
  `Head of Sales|CEO|Marketing Manager|VP Operations|Purchasing Agent|CTO|Office Manager|Director of IT|
  Founder|Procurement Lead|Sales Representative|Chief Financial Officer|Software Engineer`.split(/\|\s*/)
const PLACES: readonly (readonly [string, string, string, string])[] = [
  ['San Francisco', 'CA', 'United States', 'US'],
  ['Austin', 'TX', 'United States', 'US'],
  ['Munich', 'Bavaria', 'Germany', 'DE'],
  ['Lyon', 'Auvergne-Rhône-Alpes', 'France', 'FR'],
  ['Toronto', 'ON', 'Canada', 'CA'],
  ['Porto', 'Norte', 'Portugal', 'PT'],
  ['Leeds', 'West Yorkshire', 'United Kingdom', 'GB'],
]
const INDUSTRIES = ['Software', 'Manufacturing', 'Retail', 'Healthcare', 'Finance', 'Education']
const SOURCES = ['Web', 'Trade Show', 'Partner Referral', 'Advertisement', 'Cold Call']
const USERS = ['Mia Torres', 'Paul Weber', 'Sam Okafor', 'Lucy Hale']
const TAGS = ['vip', 'europe', 'renewal', 'urgent', 'newsletter']

export type Lead = ReturnType<typeof leadOf>

/** Returns the words of which a value in `crm-shapes.txt` is made. Times are milliseconds since 1970. */
export function leadOf(n: number) {
  const mix = (salt: number): number => mixed(n, salt)
  const [first, last] = [pick(mix(1), ...FIRST), pick(mix(2), ...LAST)]
  const company = pick(n, ...COMPANIES)
  const [city, state, country, countryCode] = pick(mix(3), ...PLACES)
  const domain = `${company.toLowerCase().replace(/[^a-z]/g, '')}.example`
  const created = Date.UTC(2025, 8, 1) + mix(4) * 900_000
  const moved = created + mix(5) * 300_000
  const updated = moved + mix(6) * 200_000
  const [ownerNo, stageNo, firstTag] = [mix(13) % USERS.length, mix(16) % 6, mix(14) % 4]
  return {
    n,
    first,
    last,
    full: `${first} ${last}`,
    email: `${first}.${last}@${domain}`.toLowerCase(),
    phone: `+1 415 555 0${100 + n}`,
    title: pick(mix(7), ...TITLES),
    company,
    domain,
    website: `https://www.${domain}`,
    industry: pick(mix(8), ...INDUSTRIES),
    employees: 5 + (mix(9) % 900),
    revenue: 100_000 * (1 + (mix(10) % 400)),
    city,
    state,
    country,
    countryCode,
    amount: 500 * (1 + (mix(11) % 120)),
    probability: pick(stageNo, 10, 20, 40, 60, 90, 100),
    score: mix(17) % 101,
    source: pick(mix(12), ...SOURCES),
    tags: TAGS.slice(firstTag, firstTag + (mix(15) % 3)),
    tag: '',
    tagNo: 0,
    below: null as unknown,
    owner: pick(ownerNo, ...USERS),
    ownerNo,
    ownerId: uuidOf(500 + ownerNo, 60),
    stageNo,
    stageId: uuidOf(800 + stageNo, 1),
    created,
    moved,
    updated,
    close: updated + mix(18) * 400_000,
    iso: (time: number, end = '.000Z') => spaced(time).replace(' ', 'T') + end,
    day: (time: number) => spaced(time).slice(0, 10),
    spaced,
    seconds: (time: number) => time / 1000,
    mix,
    pick,
    maybe: (value: unknown, one = 4, other: unknown = null) => (mix(40 + one) % one === 0 ? other : value),
    uuid: (salt: number) => uuidOf(n, salt),
    hex: (salt: number, digits: number) => uuidOf(n, salt).replaceAll('-', '').slice(0, digits),
    user: (number: number) => pick(number, ...USERS),
  }
}

/** Scatters what follows from the number, so that fields do not run in step. */
const mixed = (number: number, salt: number): number => ((number + 1) * 7919 * (salt + 3)) % 9973

const pick = <T>(number: number, ...list: readonly T[]): T => list[number % list.length] as T

const spaced = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ')

function uuidOf(number: number, salt: number): string {
  const hex = (place: number, digits: number) =>
    (mixed(number, salt + place) * 2_654_435_761).toString(16).padStart(digits, '0').slice(-digits)
  return `${hex(0, 8)}-${hex(1, 4)}-4${hex(2, 3)}-8${hex(3, 3)}-${hex(4, 12)}`
}
