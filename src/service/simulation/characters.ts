/** The pipelines that exist from the start, their size, speed and success, and invented contacts. */
import type { Criteria } from '../../contract/pipeline.ts'
import { criteriaSchema } from '../../contract/pipeline.ts'
import type { Company } from './companies.ts'
import type { Random } from './random.ts'
import { randomFor } from './random.ts'

/** The rates are for an average lead; a lead with a high score has higher rates. */
export interface Character {
  /** The number of new leads on an average working day, 45 days after the start of the history. */
  readonly leadsPerDay: number
  /** Over the first 90 days: with 0.3, new leads per day rise from 85 % to 115 % of `leadsPerDay`. */
  readonly growth: number
  /** The lowest score with which a lead is qualified. */
  readonly qualifyingScore: number
  readonly replyRate: number
  /** Over the first 90 days: with -0.2, the rate falls from 110 % to 90 % of `replyRate`. */
  readonly replyDrift: number
  readonly meetingRate: number
  readonly winRate: number
  /** The time that people take to decide, as a multiple of the usual time. */
  readonly pace: number
  /** The value of deals, as a multiple of the usual value. */
  readonly dealSize: number
}

interface ReadyPipeline {
  readonly id: string
  readonly name: string
  readonly criteria: Criteria
  readonly character: Character
}

export const READY_PIPELINES: readonly ReadyPipeline[] = [
  {
    id: 'pl_american_business',
    name: 'North America B2B',
    criteria: criteria({
      regions: ['North America'],
      industries: ['B2B', 'Industrials', 'Real Estate and Construction'],
    }),
    character: {
      leadsPerDay: 15.5,
      growth: 0.35,
      qualifyingScore: 60,
      replyRate: 0.31,
      replyDrift: 0.1,
      meetingRate: 0.38,
      winRate: 0.4,
      pace: 1,
      dealSize: 1,
    },
  },
  {
    id: 'pl_fintech',
    name: 'Fintech worldwide',
    criteria: criteria({ industries: ['Fintech'] }),
    character: {
      leadsPerDay: 3.8,
      growth: 0.15,
      qualifyingScore: 63,
      replyRate: 0.34,
      replyDrift: -0.3,
      meetingRate: 0.36,
      winRate: 0.3,
      pace: 1.2,
      dealSize: 1.6,
    },
  },
  {
    id: 'pl_healthcare',
    name: 'Healthcare and bio',
    criteria: criteria({ industries: ['Healthcare'] }),
    character: {
      leadsPerDay: 4.6,
      growth: 0.05,
      qualifyingScore: 60,
      replyRate: 0.38,
      replyDrift: 0,
      meetingRate: 0.42,
      winRate: 0.4,
      pace: 1.3,
      dealSize: 1.25,
    },
  },
  {
    id: 'pl_emea',
    name: 'EMEA',
    criteria: criteria({ regions: ['Europe', 'Middle East and North Africa', 'Africa'] }),
    character: {
      leadsPerDay: 3.3,
      growth: 0.45,
      qualifyingScore: 59,
      replyRate: 0.44,
      replyDrift: 0.15,
      meetingRate: 0.46,
      winRate: 0.42,
      pace: 0.85,
      dealSize: 0.8,
    },
  },
]

/** A pipeline that a client created gets an average character, derived from its id. */
export function characterOf(pipelineId: string): Character {
  const ready = READY_PIPELINES.find((pipeline) => pipeline.id === pipelineId)
  if (ready !== undefined) return ready.character
  const random = randomFor('character', pipelineId)
  return {
    leadsPerDay: random.between(8, 16),
    growth: random.between(0, 0.3),
    qualifyingScore: random.whole(58, 62),
    replyRate: random.between(0.3, 0.42),
    replyDrift: random.between(-0.15, 0.15),
    meetingRate: random.between(0.36, 0.46),
    winRate: random.between(0.28, 0.42),
    pace: random.between(0.85, 1.2),
    dealSize: random.between(0.8, 1.4),
  }
}

function criteria(given: Partial<Criteria>): Criteria {
  return criteriaSchema.parse(given)
}

/** An invented contact at a company. Every address is under `.example`, which RFC 2606 reserves. */
interface Contact {
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

/** Invents the contact of a company. The company has the same contact in every pipeline. */
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

const OWNERS = [
  'Ana Ferreira',
  'Jonas Becker',
  'Grace Holloway',
  'Marcus Reid',
  'Priya Raman',
  'Camille Laurent',
] as const

/** Picks the person who sells to a lead. One lead in ten has nobody. */
export function pickOwner(seed: number, leadId: string): string | null {
  const random = randomFor(seed, 'owner', leadId)
  return random.chance(0.1) ? null : random.pick(OWNERS)
}

/** Mostly the company's region, but not always, because people move. */
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
