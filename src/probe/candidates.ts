/** The names of paths, parameters and fields that the probe tries, the most usual first. Only data. */
import { fieldsWith } from '../domain/lead-fields.ts'
import type { ProfileInput } from '../upstream/profile/profile.ts'

type TimeFilterInput = NonNullable<NonNullable<ProfileInput['filters']>['updated_since']>

function names(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

/** Usual paths of lead lists, below the address that the user gave. */
export const LIST_PATHS = names(`
  /api/v1/leads /leads /v1/leads /api/leads /contacts /people /companies /deals /prospects
  /items/leads /records /customers /users /issues /orders
`)

/** Paths of documents that list the paths of an API, such as OpenAPI documents. */
export const INDEX_PATHS = names('/openapi.json /api/v1/openapi.json /swagger.json /api/v1 /api')

/** Words in a path that suggest a list of leads, the most promising first. */
export const LIST_WORDS = names(`
  lead prospect contact opportunit deal person people compan account candidate customer client
  subscriber member user record item issue ticket order invoice
`)

/** Headers and parameters that carry an API key. */
export const KEY_HEADERS = names('X-Api-Key Api-Key X-Auth-Token X-Api-Token X-Access-Token X-Token')
export const KEY_PARAMS = names('api_key api_token key access_token apikey token apiKey')

/** Each is listed with the parameters that usually select the page in the same API. */
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

/** Tried separately, because both `page` and `page[size]` in a request confuse many servers. */
export const SIZE_PARAMS_IN_BRACKETS: Readonly<Record<string, readonly string[]>> = {
  'page[size]': ['page[number]', 'page[offset]'],
  'page[limit]': ['page[offset]', 'page[number]'],
  'pagination[pageSize]': ['pagination[page]'],
  'pagination[limit]': ['pagination[start]', 'pagination[offset]'],
  'pagination[per_page]': ['pagination[page]'],
  'paging[limit]': ['paging[offset]', 'paging[page]'],
  'options[limit]': ['options[offset]', 'options[skip]'],
  'filter[limit]': ['filter[skip]', 'filter[offset]'],
}

/** Parameters that select a page by its number, or by the position of its first record. */
export const POSITION_PARAMS = names(`
  page offset skip start page_number pageNumber p from pageIndex page_index $skip _page _start
  startAt start_at startIndex start_index currentPage current_page pg page_no pageNo page-number
  pageNum page_num pagenum paged _offset _skip $offset startFrom begin first index sysparm_offset
`)

export const POSITION_PARAMS_IN_BRACKETS = names(`
  page[number] page[offset] paging[offset] pagination[page] pagination[start] pagination[offset] filter[skip]
`)

/** Parameters that take the cursor of the next page, which the previous answer contains. */
export const CURSOR_PARAMS = names(`
  cursor after page_token pageToken next starting_after start_cursor next_cursor next_token nextToken
  nextPageToken next_page_token continuation continuation_token continuationToken bookmark marker
  token offset page start _cursor start_after scroll_id from
`)
export const CURSOR_PARAMS_IN_BRACKETS = names(
  'page[after] page[cursor] pagination[cursor] pagination[starting_after]',
)

/** Parameters that take the id of the last record of the previous page. */
export const LAST_ID_PARAMS = names(`
  starting_after after since_id after_id last_id lastId afterId start_after from_id cursor min_id
  id_gt id_after startingAfter startAfter sinceId last last_seen_id
`)

export const LAST_ID_PARAMS_IN_BRACKETS = names('page[after] id[gt] id[after] filter[id][gt]')

/** The page sizes of which one is proved if the whole list is shorter than the largest. */
export const SIZES = [1000, 500, 250, 200, 100, 50, 20, 10] as const
/** The page sizes that are tried to find the largest page: down to one that is taken, and then up from 100. */
export const SIZES_DOWN = [1000, 100, 50, 20, 10] as const
export const SIZES_UP = [200, 250, 500] as const

/** If a page has exactly this many records, another page may well follow. */
export const ROUND_SIZES = [
  10, 12, 15, 16, 20, 24, 25, 30, 32, 40, 48, 50, 60, 64, 75, 80, 90, 96, 100,
] as const

/** Headers that contain the total number of records. */
export const TOTAL_HEADERS = names(`
  x-total-count x-total total-count x-wp-total x-total-results x-count x-record-count
  x-pagination-total-count x-pagination-total pagination-count total content-range
`)
export const PAGES_HEADERS = names(`
  x-total-pages x-wp-totalpages x-pagination-page-count x-page-count pagination-page-count
`)

/** Parameters that take the name of the field by which the list is sorted. */
export const SORT_PARAMS = names(`
  sort order_by sort_by _sort ordering orderBy sortBy $orderby orderby order sort_field sortField
`)
export const SORT_PARAMS_IN_BRACKETS = names('filter[order]')

/** Parameters that set the sort direction, with `asc` for ascending order. */
export const ASCENDING_PARAMS = names('direction order sort_order sortOrder sort_dir dir _order')

/** The most usual first. `{field}` stands for the name of the field with the time of the last change. */
export const SINCE_PARAMS = names(`
  updated_since updated_after modified_since since updatedSince updatedAfter {field}_gte {field}:gte
  {field}_after {field}_since {field}__gte {field}__gt {field}_from {field}_min {field}_gt
  min_{field} {field}From {field}Min {field}After {field}Since modified_after modifiedSince
  modifiedAfter changed_since changedSince changed_after updated_from updated_min updatedFrom
  last_modified_since since_timestamp from_date start_date updated min_updated if_modified_since
  lastModifiedSince update_time_from date_from {field}.gte {field}> from after_date
`)
export const SINCE_PARAMS_IN_BRACKETS = names(`
  {field}[gte] {field}[gt] {field}[$gte] {field}[after] {field}[since] {field}[from] {field}[ge]
  filters[{field}][$gte] filter[{field}][_gte] filter[where][{field}][gte] filter[{field}][gte]
  filter[{field}][ge] filter[{field}][gt] filter[{field}][$gte] filter[{field}_since]
  filter[{field}_after] filter[{field}] filter[updated_since] filter[updated_after] filter[since]
  filter[updatedSince] filter[updatedAfter] filter[modified_since] filters[updated_since]
  filters[{field}][gte] range[{field}][gte]
`)

/** Filters by two times, for records that have no time of change before their first change. */
export const SINCE_BOTH = [
  { param: 'filter', value: '{"_or":[{"{field}":{"_gte":"{value}"}},{"{created}":{"_gte":"{value}"}}]}' },
  { param: '$filter', value: '({field} ge {value} or {created} ge {value})' },
] as const

/** Filters that are expressions: a parameter and its value. `{value}` stands for the time. */
export const SINCE_EXPRESSIONS = [
  { param: '{field}', value: 'gte.{value}' },
  { param: 'filter', value: '({field}>="{value}")' },
  { param: '$filter', value: '{field} ge {value}' },
  { param: 'query', value: "{field}:>'{value}'" },
  { param: 'q', value: '{field}:>={value}' },
  { param: 'where', value: '{"{field}":{"$gte":{"__type":"Date","iso":"{value}"}}}' },
  { param: '{field}', value: '>={value}' },
  { param: '{field}', value: 'ge{value}' },
  { param: '_{field}', value: 'ge{value}' },
  { param: '{field}', value: '>{value}' },
  { param: '{field}', value: 'gte:{value}' },
  { param: '{field}', value: 'gt:{value}' },
  { param: '{field}', value: 'ge:{value}' },
  { param: '{field}', value: '{value}..' },
  { param: 'filter', value: '{field} ge {value}' },
  { param: 'filter', value: '{field}>={value}' },
  { param: 'filter', value: '{field}:>{value}' },
  { param: 'filter', value: '{field}:gte:{value}' },
  { param: 'filter', value: '{field},gte,{value}' },
  { param: 'filter', value: '{field} >= "{value}"' },
  { param: 'query', value: '{field}:>{value}' },
  { param: 'query', value: '{field}>={value}' },
  { param: 'where', value: '{"{field}":{"$gte":"{value}"}}' },
  { param: 'where', value: '{"{field}":{"gte":"{value}"}}' },
  { param: 'where', value: "{field} >= '{value}'" },
  { param: 'filter', value: '{"where":{"{field}":{"gte":"{value}"}}}' },
  { param: 'filter', value: '{"{field}":{"gte":"{value}"}}' },
  { param: 'filter', value: '{"{field}":{"$gte":"{value}"}}' },
] as const

export interface SinceBody extends Pick<TimeFilterInput, 'param' | 'value' | 'format'> {
  /** The parameters that sort such a search by the time of change, the oldest first. */
  readonly order?: Readonly<Record<string, unknown>>
  /** The number of records after which such a search ends, as its vendor documents it. */
  readonly records?: number
}

/** Filters of lists by POST: of HubSpot, Notion, Attio, Copper, Intercom, Wix, Elasticsearch, CouchDB, and others. */
export const SINCE_BODIES: readonly SinceBody[] = [
  ...['{field}', 'lastmodifieddate', 'hs_lastmodifieddate'].map((propertyName) => ({
    param: 'filterGroups',
    value: [{ filters: [{ propertyName, operator: 'GTE', value: '{value}' }] }],
    format: 'epoch_ms' as const,
    order: { sorts: [{ propertyName, direction: 'ASCENDING' }] },
    records: 10_000,
  })),
  {
    param: 'filter',
    value: { timestamp: '{field}', '{field}': { on_or_after: '{value}' } },
    order: { sorts: [{ timestamp: '{field}', direction: 'ascending' }] },
    records: 10_000,
  },
  {
    param: 'filter',
    value: { '{field}': { $gte: '{value}' } },
    order: { sorts: [{ attribute: '{field}', direction: 'asc' }] },
  },
  {
    param: 'minimum_modified_date',
    format: 'epoch_s',
    order: { sort_by: '{field}', sort_direction: 'asc' },
    records: 100_000,
  },
  { param: 'query', value: { field: '{field}', operator: '>', value: '{value}' }, format: 'epoch_s' },
  { param: 'query', value: { filter: { '{field}': { $gte: '{value}' } } } },
  { param: 'query', value: { range: { '{field}': { gte: '{value}' } } } },
  { param: 'filter', value: { '{field}': { gte: '{value}' } } },
  { param: 'filters', value: [{ field: '{field}', operator: 'gte', value: '{value}' }] },
  { param: 'where', value: { '{field}': { gte: '{value}' } } },
  { param: 'selector', value: { '{field}': { $gte: '{value}' } } },
]

/** The bodies of a POST that usually answers a list, and changes nothing, the simplest first. */
export const LIST_BODIES: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { limit: 10, page: 1 },
  { query: {} },
  { query: '' },
  { filterGroups: [], limit: 10 },
  { page_size: 10 },
  { selector: {} },
  { query: { field: 'created_at', operator: '>', value: 0 } },
]

/** Words of a path that only reads. A POST to another path may make a record. */
export const READ_WORDS = names('search query queries list find filter lookup fetch get browse')

/** If a paging parameter matches `paging`, the filter parameters usually match `since`. */
export const SINCE_FAMILIES = [
  { paging: /^\$/, since: /^\$/ },
  { paging: /^_/, since: /^_|[_:]gte$/ },
  { paging: /^pagination\[/, since: /^filters\[/ },
  { paging: /^(page|filter|options)\[/, since: /^filter\[/ },
] as const

/* The usual names of lead fields, and what their values look like. This part is data without logic. */

export const LEAD_SIGNS = fieldsWith('probe').map((field) => {
  const [sure = '', maybe = ''] = field.probe.split(/\s\?\s/)
  const looks = 'looks' in field ? field.looks : field.type
  return { field, names: patterns(sure), maybe: patterns(maybe), looks }
})

function patterns(text: string): RegExp[] {
  return text
    .split(/\s+/)
    .flatMap((name) => (name === '' ? [] : [new RegExp(`^${name.replaceAll('*', '.*')}$`)]))
}

export type FieldSign = (typeof LEAD_SIGNS)[number]

/**
 * Compared with the last part of a path, without case, digits and punctuation: `data.lead_ID2` as `leadid`.
 */
export const ID_NAMES = names('id uuid guid objectid sysid leadid contactid recordid hsobjectid gid')
/** Less promising names of id fields. They rank after all names that end in `id`. */
export const LATE_ID_NAMES = names('key slug number nr no nummer ref reference code externalid email')
/** They are the id only if nothing is better, and if at least NAMED_RECORDS_MIN records all differ in it. */
export const RECORD_NAMES = names('name login username handle')

export const FIRST_NAMES = names('firstname givenname first forename fname')
export const LAST_NAMES = names('lastname familyname surname last lname')

/** Words which show that a status means won, lost or disqualified. The first row that matches counts. */
export const OUTCOME_WORDS = [
  [
    'disqualified',
    /disqualif|unqualif|reject|invalid|spam|junk|not[ _-]?a[ _-]?fit|bad[ _-]?(fit|lead)|do[ _-]?not/i,
  ],
  [
    'lost',
    /lost|dead|churn|cancel|abandon|closed[ _-]?(lost|dead)|no[ _-]?(sale|deal)|not[ _-]?(won|converted|interested)|declin|expired|failed|verloren|perdu/i,
  ],
  ['won', /won\b|^won|closed[ _-]?won|customer|converted|signed|success|paid|gewonnen|gagn/i],
] as const

/** Words in the names of stages, in the order in which leads usually pass the stages. */
export const FUNNEL_WORDS = [
  /^(new|open|raw|created|incoming|intake|fresh|cold|lead|subscriber|discovered|backlog|todo)/i,
  /enrich|research|assign|pending|queued/i,
  /contact|attempt|outreach|reach|sent|warm/i,
  /repl|respon|engag|working|in[ _-]?progress|connected|nurtur|active/i,
  /qualif|mql|sql|interested|hot/i,
  /meeting|demo|call|appoint|discovery|present/i,
  /propos|quot|offer|evaluat|trial|opportunit/i,
  /negotiat|contract|verbal|commit|decision/i,
] as const
