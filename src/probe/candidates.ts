/**
 * The names of paths, parameters and fields that the probe tries, the most usual first. This file is only
 * data.
 */
import type { LeadField } from '../domain/lead-fields.ts'
import { fieldsWith } from '../domain/lead-fields.ts'

/** Usual paths of lead lists, below the address that the user gave. */
export const LIST_PATHS = [
  '/api/v1/leads',
  '/leads',
  '/v1/leads',
  '/api/leads',
  '/contacts',
  '/people',
  '/companies',
  '/deals',
  '/prospects',
  '/items/leads',
  '/records',
  '/customers',
  '/users',
  '/issues',
  '/orders',
] as const

/** Paths of documents that list the paths of an API, such as OpenAPI documents. */
export const INDEX_PATHS = [
  '/openapi.json',
  '/api/v1/openapi.json',
  '/swagger.json',
  '/api/v1',
  '/api',
] as const

/** Words in a path that suggest a list of leads, the most promising first. */
export const LIST_WORDS = [
  ...[
    'lead',
    'prospect',
    'contact',
    'opportunit',
    'deal',
    'person',
    'people',
    'compan',
    'account',
    'candidate',
  ],
  ...[
    'customer',
    'client',
    'subscriber',
    'member',
    'user',
    'record',
    'item',
    'issue',
    'ticket',
    'order',
    'invoice',
  ],
] as const

/**
 * Parameters that set the page size. Each is listed with the parameters that usually select the page in the
 * same API.
 */
export const SIZE_PARAMS: Readonly<Record<string, readonly string[]>> = {
  limit: ['offset', 'page', 'skip', 'start'],
  per_page: ['page'],
  page_size: ['page', 'page_number', 'offset'],
  pageSize: ['page', 'pageNumber', 'pageIndex', 'offset'],
  size: ['page', 'from', 'offset'],
  perPage: ['page'],
  count: ['offset', 'start', 'page'],
  $top: ['$skip'],
  $limit: ['$skip', '$offset'],
  _limit: ['_page', '_start', '_skip', '_offset'],
  maxResults: ['startAt', 'startIndex', 'start'],
  max_results: ['page', 'offset'],
  rows: ['start', 'page', 'offset'],
  results: ['page'],
  take: ['skip', 'offset', 'page'],
  top: ['skip', 'offset'],
  maxSize: ['offset', 'page'],
  max: ['offset', 'page', 'start'],
  itemsPerPage: ['page'],
  items_per_page: ['page'],
  pagesize: ['page'],
  'page-size': ['page', 'page-number'],
  'per-page': ['page'],
  per: ['page'],
  page_limit: ['page', 'offset'],
  pageLimit: ['page'],
  limite: ['page', 'offset'],
  length: ['start', 'offset'],
  n: ['p', 'page', 'offset'],
  first: ['skip', 'after', 'offset'],
  _per_page: ['_page'],
  _perPage: ['_page'],
  batch_size: ['offset', 'page'],
  hitsPerPage: ['page'],
  resultsPerPage: ['page', 'startIndex'],
  sysparm_limit: ['sysparm_offset'],
  _count: ['_offset', '_getpagesoffset'],
}

/**
 * Page-size parameters with brackets. They are tried separately, because a request with both `page` and
 * `page[size]` confuses many servers.
 */
export const SIZE_PARAMS_IN_BRACKETS: Readonly<Record<string, readonly string[]>> = {
  'page[size]': ['page[number]', 'page[offset]'],
  'page[limit]': ['page[offset]', 'page[number]'],
  'pagination[pageSize]': ['pagination[page]'],
  'pagination[limit]': ['pagination[start]', 'pagination[offset]'],
  'paging[limit]': ['paging[offset]', 'paging[page]'],
  'options[limit]': ['options[offset]', 'options[skip]'],
  'filter[limit]': ['filter[skip]', 'filter[offset]'],
}

/** Parameters that select a page by its number, or by the position of its first record. */
export const POSITION_PARAMS = [
  ...['page', 'offset', 'skip', 'start', 'page_number', 'pageNumber', 'p', 'from', 'pageIndex', 'page_index'],
  ...[
    '$skip',
    '_page',
    '_start',
    'startAt',
    'start_at',
    'startIndex',
    'start_index',
    'currentPage',
    'current_page',
  ],
  ...[
    'pg',
    'page_no',
    'pageNo',
    'page-number',
    'pageNum',
    'page_num',
    'pagenum',
    'paged',
    '_offset',
    '_skip',
  ],
  ...['$offset', 'startFrom', 'begin', 'first', 'index', 'sysparm_offset'],
] as const

export const POSITION_PARAMS_IN_BRACKETS = [
  ...['page[number]', 'page[offset]', 'pagination[page]', 'pagination[start]', 'pagination[offset]'],
  'filter[skip]',
] as const

/** Parameters that take the cursor of the next page, which the previous answer contains. */
export const CURSOR_PARAMS = [
  ...['cursor', 'after', 'page_token', 'pageToken', 'next', 'starting_after', 'next_cursor', 'next_token'],
  ...[
    'nextToken',
    'nextPageToken',
    'next_page_token',
    'continuation',
    'continuation_token',
    'continuationToken',
  ],
  ...[
    'bookmark',
    'marker',
    'token',
    'offset',
    'page',
    'start',
    '_cursor',
    'start_after',
    'scroll_id',
    'from',
  ],
] as const
export const CURSOR_PARAMS_IN_BRACKETS = ['page[after]', 'page[cursor]', 'pagination[cursor]'] as const

/** Parameters that take the id of the last record of the previous page. */
export const LAST_ID_PARAMS = [
  ...[
    'starting_after',
    'after',
    'since_id',
    'after_id',
    'last_id',
    'lastId',
    'afterId',
    'start_after',
    'from_id',
  ],
  ...[
    'cursor',
    'min_id',
    'id_gt',
    'id_after',
    'startingAfter',
    'startAfter',
    'sinceId',
    'last',
    'last_seen_id',
  ],
] as const

export const LAST_ID_PARAMS_IN_BRACKETS = ['page[after]', 'id[gt]', 'id[after]', 'filter[id][gt]'] as const

/** The page sizes that are tried to find the largest page. */
export const SIZES = [1000, 500, 250, 200, 100, 50, 20, 10] as const

/**
 * Usual default page sizes of servers. If a page has exactly this many records, another page may well follow.
 */
export const ROUND_SIZES = [
  10, 12, 15, 16, 20, 24, 25, 30, 32, 40, 48, 50, 60, 64, 75, 80, 90, 96, 100,
] as const

/** Headers that contain the total number of records. */
export const TOTAL_HEADERS = [
  ...[
    'x-total-count',
    'x-total',
    'total-count',
    'x-wp-total',
    'x-total-results',
    'x-count',
    'x-record-count',
  ],
  ...['x-pagination-total-count', 'x-pagination-total', 'pagination-count', 'total', 'content-range'],
] as const
export const PAGES_HEADERS = [
  ...['x-total-pages', 'x-wp-totalpages', 'x-pagination-page-count', 'x-page-count', 'pagination-page-count'],
] as const

/** Parameters that take the name of the field by which the list is sorted. */
export const SORT_PARAMS = [
  ...[
    'sort',
    'order_by',
    'sort_by',
    '_sort',
    'ordering',
    'orderBy',
    'sortBy',
    '$orderby',
    'orderby',
    'order',
  ],
  ...['sort_field', 'sortField'],
] as const
export const SORT_PARAMS_IN_BRACKETS = ['sort[]', 'filter[order]'] as const

/** Parameters that set the sort direction, each with its value for ascending order. */
export const ASCENDING_PARAMS = {
  direction: 'asc',
  order: 'asc',
  sort_order: 'asc',
  sortOrder: 'asc',
  sort_dir: 'asc',
  dir: 'asc',
  _order: 'asc',
} as const

/* The usual names of lead fields, and what their values look like. This part is data without logic. */

export interface FieldSign {
  readonly field: LeadField
  /** The usual names of the field, the most promising first. */
  readonly names: readonly string[]
  readonly looks: LeadField['type'] | 'few' | 'email' | 'domain' | 'currency'
}

export const LEAD_SIGNS: readonly FieldSign[] = fieldsWith('probe').map((field) => ({
  field,
  names: field.probe.split(/\s+/),
  looks: 'looks' in field ? field.looks : field.type,
}))

export const FIRST_NAMES = ['firstname', 'givenname', 'first', 'forename', 'fname'] as const
export const LAST_NAMES = ['lastname', 'familyname', 'surname', 'last', 'lname'] as const

/** Words which show that a status means won, lost or disqualified. The first entry that matches counts. */
export const OUTCOME_WORDS = [
  {
    outcome: 'disqualified',
    words: /disqualif|unqualif|reject|invalid|spam|junk|not[ _-]?a[ _-]?fit|bad[ _-]?(fit|lead)|do[ _-]?not/i,
  },
  {
    outcome: 'lost',
    words:
      /lost|dead|churn|cancel|abandon|closed[ _-]?(lost|dead)|no[ _-]?(sale|deal)|declin|expired|failed|verloren|perdu/i,
  },
  {
    outcome: 'won',
    words: /won\b|^won|closed[ _-]?won|customer|converted|signed|success|paid|gewonnen|gagn/i,
  },
] as const

/** Words in the names of stages, in the order in which leads usually pass the stages. */
export const FUNNEL_WORDS = [
  /^(new|open|raw|created|incoming|intake|fresh|cold|lead|subscriber|discovered|backlog|todo|todo)/i,
  /enrich|research|assign|pending|queued/i,
  /contact|attempt|outreach|reach|sent|warm/i,
  /repl|respon|engag|working|in[ _-]?progress|connected|nurtur|active/i,
  /qualif|mql|sql|interested|hot/i,
  /meeting|demo|call|appoint|discovery|present/i,
  /propos|quot|offer|evaluat|trial|opportunit/i,
  /negotiat|contract|verbal|commit|decision/i,
] as const
