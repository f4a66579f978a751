/** The dialects of all vendors whose profile ships, and of lists by POST for which none does. */
import { ATTIO } from './attio.ts'
import { CLOSE } from './close.ts'
import { COPPER } from './copper.ts'
import { DIRECTUS } from './directus.ts'
import { DYNAMICS } from './dynamics.ts'
import { FRESHSALES } from './freshsales.ts'
import { GITHUB } from './github.ts'
import { GRAPHQL } from './graphql.ts'
import { HUBSPOT_CONTACTS, HUBSPOT_SEARCH } from './hubspot.ts'
import { NOTION } from './notion.ts'
import { ODOO } from './odoo.ts'
import { PIPEDRIVE_DEALS, PIPEDRIVE_DEALS_V1, PIPEDRIVE_LEADS } from './pipedrive.ts'
import { SALESFORCE } from './salesforce.ts'
import { STRAPI } from './strapi.ts'
import { STRIPE } from './stripe.ts'
import type { Dialect } from './vendor.ts'
import { ZENDESK_SELL } from './zendesk-sell.ts'
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
  ODOO,
  FRESHSALES,
  ZENDESK_SELL,
  GITHUB,
  STRIPE,
]

export const NOT_SHIPPED: readonly Dialect[] = [NOTION, GRAPHQL]
