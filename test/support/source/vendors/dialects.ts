/** The dialects of all vendors whose profile ships. */
import { ATTIO } from './attio.ts'
import { CLOSE } from './close.ts'
import { COPPER } from './copper.ts'
import { DIRECTUS } from './directus.ts'
import { DYNAMICS } from './dynamics.ts'
import { HUBSPOT_CONTACTS, HUBSPOT_SEARCH } from './hubspot.ts'
import { PIPEDRIVE_DEALS, PIPEDRIVE_DEALS_V1, PIPEDRIVE_LEADS } from './pipedrive.ts'
import { SALESFORCE } from './salesforce.ts'
import { STRAPI } from './strapi.ts'
import type { Dialect } from './vendor.ts'
import { ZOHO } from './zoho.ts'

export const DIALECTS: readonly Dialect[] = [
  HUBSPOT_CONTACTS,
  HUBSPOT_SEARCH,
  SALESFORCE,
  PIPEDRIVE_DEALS,
  PIPEDRIVE_DEALS_V1,
  PIPEDRIVE_LEADS,
  ZOHO,
  DYNAMICS,
  ATTIO,
  CLOSE,
  COPPER,
  DIRECTUS,
  STRAPI,
]
