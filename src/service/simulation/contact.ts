/**
 * The person at a company, invented: no real person and no real address. Every address is under
 * `.example`, which RFC 2606 keeps from ever being anyone's.
 */
import type { Company } from './companies.ts'
import { type Random, randomFor } from './random.ts'

export interface Contact {
  readonly name: string
  readonly title: string
  readonly email: string | null
}

const FIRST_NAMES = {
  Europe:
    'Maria Anna Léa Ingrid Zofia Elena Sofía Katarzyna Freya Chloé Marta Ioana Lukas Mateo Jonas Henrik Pierre Stefan Tomáš Oliver Marek Giulia Søren Nikos'.split(
      ' ',
    ),
  Asia: 'Priya Ananya Mei Yuki Siti Linh Kavya Hana Aisha Ji-woo Arjun Rahul Wei Kenji Budi Minh Vikram Farhan Rohan Haruto Nurul Thanh'.split(
    ' ',
  ),
  Africa:
    'Amina Ngozi Wanjiru Zainab Thandi Adaeze Fatima Efua Chinedu Kwame Tunde Omar Sipho Babajide Youssef Kofi'.split(
      ' ',
    ),
  America:
    'Emily Sarah Jessica Camila Valentina Grace Hannah Olivia Michael David James Daniel Ethan Diego Mateo Ryan Luis Jasmine Brandon Gabriela Noah Tyler'.split(
      ' ',
    ),
}
const LAST_NAMES = {
  Europe:
    'Stefan Novák Lindqvist Müller García Rossi Kowalska Dubois Jansen Andersen Ionescu Papadakis O’Connor Fischer Horváth Silva Łukasik Bergström Moreau Weiß'.split(
      ' ',
    ),
  Asia: 'Sharma Patel Tanaka Nguyen Wijaya Chen Kim Iyer Rahman Suzuki Lim Gupta Santoso Park Khan Reddy Wong Das'.split(
    ' ',
  ),
  Africa:
    'Okafor Mensah Mwangi Adeyemi Haddad Dlamini Eze Abebe Nkosi Boateng Diallo Ibrahim Kamau Balogun'.split(
      ' ',
    ),
  America:
    'Johnson Martinez Nguyen Brown Hernández Williams Silva Taylor Rodríguez Clark Patel Robinson Torres Kim Walker Sanders Morales Reyes Hughes Foster'.split(
      ' ',
    ),
}
type NameRegion = keyof typeof FIRST_NAMES

const NAME_REGION: Readonly<Record<string, NameRegion>> = {
  Europe: 'Europe',
  Africa: 'Africa',
  'Middle East and North Africa': 'Africa',
  'South Asia': 'Asia',
  'Southeast Asia': 'Asia',
  'East Asia': 'Asia',
}

const TITLES_SMALL = ['Founder', 'Co-founder', 'Chief Executive', 'Chief Technology Officer'] as const
const TITLES_MIDDLE = ['Head of Operations', 'VP Sales', 'Head of Growth', 'Chief Operating Officer'] as const
const TITLES_LARGE = [
  'Director of Procurement',
  'VP Operations',
  'Head of Partnerships',
  'IT Director',
] as const

/** The same person for a company whichever pipeline finds it. */
export function inventContact(seed: number, company: Company): Contact {
  const random = randomFor(seed, 'contact', company.id)
  const first = random.pick(FIRST_NAMES[nameRegion(company, random)])
  const last = random.pick(LAST_NAMES[nameRegion(company, random)])
  const mailbox = `${ascii(first)}.${ascii(last)}@${mailDomain(company)}`
  return {
    name: `${first} ${last}`,
    title: random.pick(titlesFor(company.employees ?? 0)),
    email: random.chance(0.97) ? mailbox : null,
  }
}

/** Mostly the names of its region: people move. */
function nameRegion(company: Company, random: Random): NameRegion {
  const own = company.region === null ? undefined : NAME_REGION[company.region]
  const anywhere = random.pick(['Europe', 'Asia', 'Africa', 'America'] as const)
  return random.chance(0.8) ? (own ?? 'America') : anywhere
}

function titlesFor(employees: number): readonly string[] {
  if (employees < 15) return TITLES_SMALL
  return employees < 200 ? TITLES_MIDDLE : TITLES_LARGE
}

function mailDomain(company: Company): string {
  const label = company.domain?.split('.').at(-2) ?? ascii(company.name)
  return `${label.slice(0, 40).replace(/^-+|-+$/g, '') || `company${company.id}`}.example`
}

const LETTERS_WITHOUT_ACCENT: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', ß: 'ss', ı: 'i' }

function ascii(text: string): string {
  return text
    .toLowerCase()
    .replace(/[łøßı]/g, (letter) => LETTERS_WITHOUT_ACCENT[letter] ?? '')
    .normalize('NFD')
    .replace(/[^a-z0-9-]/g, '')
}
