/**
 * The fields of a lead, one row each. The model, tables, mapping, filters, lists, data dictionary and probe
 * derive from these rows, so a new field needs only a row here. A field that lists show also needs its name
 * in `LISTED_FIELDS` and a heading in `report/words/`; after the first release, each new field needs a
 * migration (`store/schema/migrate.ts`).
 */
import { type CamelCase, camelCase } from './names.ts'

interface LeadFieldRow {
  /**
   * The column in `lead` and `lead_version`, and the name of the field in a profile. In camelCase it is the `name` of
   * the field in the model, and `lead.<name>` the key of its heading in `report/words/`.
   */
  readonly column: string
  /** The type of the value. The entries of a list are texts. A number must be within `range`. */
  readonly type: 'text' | 'number' | 'list' | 'instant'
  readonly range?: { readonly min: number; readonly max: number }
  /** Marks a count. A number that is not whole is no value of it. */
  readonly isWhole?: true
  /** The value of the field if the record has none; by default null. */
  readonly absent?: string
  /** Names the unit, or whose clock an instant comes from. It becomes the comment of the column. */
  readonly meaning: string
  /** Marks personal data. Drafted profiles show no example of it. */
  readonly isPersonal?: true
  readonly isFilter?: true
  /** Marks a field whose change stores a new version of the lead. */
  readonly hasHistory?: true
  /**
   * Names in other APIs, in lower-case letters alone, the likeliest first. `companyname` is also `company.name`,
   * `*` is any letters, and the rest is as in a regular expression. The names after a lone `?` mean this only if
   * their values look so.
   */
  readonly probe?: string
  /** The look of the values, for the probe; by default that of the type. `probe/columns.ts` knows each look. */
  readonly looks?: string
  /** Marks an instant that people plan. It is null if the record has none, or a text that is no time. */
  readonly isPlanned?: true
}

const ROWS = [
  {
    column: 'id',
    type: 'text',
    meaning: "the upstream's identifier, digit for digit; unique",
  },
  {
    column: 'pipeline_id',
    type: 'text',
    absent: 'default',
    meaning: 'pipeline.id',
    hasHistory: true,
    looks: 'few',
    probe: `(pipeline|board|funnel)id pipeline(name|label|title)? boardname funnel(name)? listid ?
      projectid queueid campaignid teamid categoryid project queue team projectname queuename teamname
      stagesetid stagesetname group`,
  },
  {
    column: 'status',
    type: 'text',
    absent: 'unknown',
    meaning: 'stage.status',
    isFilter: true,
    hasHistory: true,
    looks: 'stage',
    probe: `(pipeline|sales|contact|current)?(stage|step|phase|milestone)(name|label|title) statustitle
      (pipeline|sales|current)?(stage|step|phase|milestone) lifecyclestage
      (pipeline|contact)?(stage|step|phase)id statusname statelabel statename statuslabel status
      (contact)?statusid lifecyclestageid statuscode ? state disposition`,
  },
  {
    column: 'company_name',
    type: 'text',
    meaning: 'name of the company',
    isFilter: true,
    looks: 'company',
    probe: `companyname organi[sz]ationname accountname company organi[sz]ation orgname account businessname
      companytitle partnername salesaccountname employer firm firmname customername clientname client contactcompanyname
      legalname ? name title subject displayname summary label topic`,
  },
  {
    column: 'company_domain',
    type: 'text',
    meaning: 'web address of the company without scheme, such as acme.com',
    isFilter: true,
    looks: 'domain',
    probe: `companydomain domain companywebsite website (company|organization)?websiteurl organizationdomain
      organizationprimarydomain accountdomain homepage companyurl organizationwebsite accountwebsite
      orgdomain firmdomain web(page|address|site)? companysite site url`,
  },
  {
    column: 'company_industry',
    type: 'text',
    meaning: 'industry of the company',
    isFilter: true,
    probe: '(company|organization|account)?industry(name)? sector(name)? vertical',
  },
  {
    column: 'company_subindustry',
    type: 'text',
    meaning: 'part of the industry that the company is in',
    isFilter: true,
  },
  {
    column: 'company_employees',
    type: 'number',
    looks: 'headcount',
    // The minimum is -1, because some services send -1 for unknown.
    range: { min: -1, max: 1e12 },
    isWhole: true,
    meaning: 'number of people who work for the company',
    isFilter: true,
    probe: `(company|organization)?(employees|employeecount|headcount)
      (company)?(numberof|noof|num|total)employees employees(count|number) companysize
      organizationestimatednumemployees staff`,
  },
  {
    column: 'company_city',
    type: 'text',
    meaning: 'city where the company is',
    isFilter: true,
    probe: `companycity city *addresscity locationcity town addresslocality
      (billing|mailing|business|office|work|main)city`,
  },
  {
    column: 'company_country',
    type: 'text',
    meaning: 'country where the company is',
    isFilter: true,
    probe: `companycountry country *addresscountry locationcountry countrycode countryname
      companycountrycode *addresscountrycode (billing|mailing|business|office|work|main)country(code)?`,
  },
  {
    column: 'company_region',
    type: 'text',
    meaning: 'region of the world or of the country where the company is',
    isFilter: true,
    looks: 'region',
    probe: `companyregion region *address(region|state) stateorprovince *addressstateorprovince
      addressprovince locationstate province (billing|mailing|business|office|main)(state|region) ?
      state`,
  },
  {
    column: 'company_one_liner',
    type: 'text',
    meaning: 'what the company says about itself, in one sentence',
  },
  {
    column: 'contact_name',
    type: 'text',
    meaning: 'name of the person to talk to',
    isPersonal: true,
    isFilter: true,
    looks: 'person',
    probe: `contactname personname fullname contactfullname contact person contactperson maincontact(name)?
      ? name displayname title subject`,
  },
  {
    column: 'contact_title',
    type: 'text',
    meaning: 'position of the person to talk to',
    isPersonal: true,
    isFilter: true,
    looks: 'job',
    probe: `contacttitle jobtitle contactjobtitle persontitle contactposition designation jobposition ?
      title position role jobrole contactrole function occupation post`,
  },
  {
    column: 'contact_email',
    type: 'text',
    meaning: 'e-mail address of the person to talk to',
    isPersonal: true,
    isFilter: true,
    looks: 'email',
    probe: 'contactemail email emailaddress personemail mail primaryemail workemail emailvalue emailfrom',
  },
  {
    column: 'score',
    type: 'number',
    range: { min: -1e9, max: 1e9 },
    meaning: '0 to 100, null until scored',
    isFilter: true,
    hasHistory: true,
    probe: 'score scorevalue hubspotscore fitscore (total|overall)score scoring ? points fit',
  },
  {
    column: 'value_amount',
    type: 'number',
    range: { min: -1e15, max: 1e15 },
    meaning: 'expected deal value in whole units of value_currency',
    isFilter: true,
    hasHistory: true,
    looks: 'amount',
    probe: `valueamount amountvalue value amount monetaryvalue
      (estimated|expected|projected|forecast)(value|amount) estimatedvalueamount valuecurrencyvalue
      money(amount|value)? closevalue expectedrevenue worth opportunity (total|contract)(value|amount) ?
      price revenue totalprice budget total`,
  },
  {
    column: 'value_currency',
    type: 'text',
    meaning: 'currency of value_amount, ISO 4217',
    isFilter: true,
    hasHistory: true,
    looks: 'currency',
    probe: `valuecurrency amountcurrency currency currencycode currencyisocode monetaryunit
      valuecurrencycode moneycurrency currencyid ? *currency*`,
  },
  {
    column: 'source',
    type: 'text',
    meaning: 'where the discovering agent found the company',
    isFilter: true,
    probe: `source sourcename origin originname sourceid sourcecode utmsource channel
      (acquisition|referral|marketing)(source|channel) ? medium campaign`,
  },
  {
    column: 'owner',
    type: 'text',
    meaning: 'person who sells to the lead, by name or id as the upstream gives it',
    isPersonal: true,
    isFilter: true,
    hasHistory: true,
    probe: `ownername ownerfullname owner ownerusername owneremail ownerid owneridvalue hubspotownerid
      ownerreferencedactorid assigneename assignedtoname assignee assignedto assigneeid assignedtoid
      assignedby(id)? assigneduser(name)? salesrep salesagent salesperson salesrepname assigneduserid
      salespersoncode accountmanager accountowner responsible(user|person)?(name)?
      responsible(user|person)?id ownedby(id)? sales(owner|manager) assigned seller ? username user userid
      rep manager managerid`,
  },
  {
    column: 'agent_id',
    type: 'text',
    meaning: 'agent.id of the last agent that worked on it',
    isFilter: true,
    hasHistory: true,
    probe: 'agentid agent',
  },
  {
    column: 'tags',
    type: 'list',
    meaning: 'tags that the upstream gives the lead, JSON array of text',
    isFilter: true,
    probe: 'tags tag(list|s?names) labels labelids tagids categories keywords segments tag',
  },
  {
    column: 'created_at',
    type: 'instant',
    meaning: "UTC, by the upstream's clock: when the lead was created",
    probe: `createdat creat(e|ed|ion)(at|on|date|time|datetime|ms|ts|timestamp)?
      (date|time)(created|creation|create|entered|added)
      (add|added|inserted|entered|registered|submitted)(at|on|date|time) ctime cdate engagedate`,
  },
  {
    column: 'updated_at',
    type: 'instant',
    meaning: "UTC, by the upstream's clock: when the lead last changed in any way",
    probe: `updatedat
      (last)?(update|updated|modify|modified|modification|change|changed|edited)(at|on|date|time|datetime|ms|ts|timestamp)?
      date(last)?(update|updated|modify|modified|changed) systemmodstamp writedate mtime touchedat udate
      mdate ? lastactivityat`,
  },
  {
    column: 'status_changed_at',
    type: 'instant',
    meaning:
      "UTC, by the upstream's clock: when the status began; updated_at if it does not say; by our clock if the lead was set back",
    probe: `*stage*chang* *status*chang* *stage*updat* *status*updat* *stage*modif* *status*modif*
      *enter*stage *stage*enter* stagesince statussince`,
  },
  {
    // It has no history, because all who read it ask for the present plan, and each delay would be a new version.
    column: 'expected_close_at',
    type: 'instant',
    isPlanned: true,
    meaning: 'UTC: when the deal is expected to close; midnight if the upstream gives only the date',
    probe: `
      (expected|estimated|forecast|projected|target|planned|anticipated)(close|closing|closure)(at|on|date|time)?
      clos(e|ing|ure)date expecteddate datedeadline ? duedate deadline duetime`,
  },
] as const satisfies readonly LeadFieldRow[]

type Named<R> = R extends { readonly column: infer Column } ? R & { readonly name: CamelCase<Column> } : never
export type LeadField = Named<(typeof ROWS)[number]>
export const LEAD_FIELDS = ROWS.map((row) => ({
  ...row,
  name: camelCase(row.column),
})) as readonly LeadField[]

type ValueOf<F extends LeadField> = F extends { readonly type: 'number' }
  ? number | null
  : F extends { readonly type: 'list' }
    ? readonly string[]
    : F extends { readonly name: 'id' } | { readonly absent: string }
      ? string
      : string | null

/** The values of a lead as the mapping reads them from a record. */
export type LeadValues = { readonly [F in LeadField as F['name']]: ValueOf<F> }

type Stored<F extends LeadField> = F extends { readonly isPlanned: true }
  ? string | null
  : F extends { readonly type: 'list' | 'instant' }
    ? string
    : ValueOf<F>

/**
 * The values as columns of the store. A list is JSON text. A missing instant becomes the time of the reading,
 * except for a planned one.
 */
export type LeadColumns = { [F in LeadField as F['column']]: Stored<F> }

type FieldWith<K extends string> = Extract<LeadField, Readonly<Record<K, unknown>>>

export function fieldsWith<K extends keyof LeadFieldRow>(key: K): readonly FieldWith<K>[] {
  return LEAD_FIELDS.filter((field): field is FieldWith<K> => key in field)
}

/** Lists show the present values of these fields. The order is that of the columns of an attached file. */
export const LISTED_FIELDS = [
  'owner',
  'expectedCloseAt',
  'contactName',
  'contactTitle',
  'companyCountry',
  'companyDomain',
  'companyOneLiner',
  'source',
] as const satisfies readonly LeadField['name'][]
