/**
 * The fields of a lead, one row each. The model, tables, mapping, filters, lists, data dictionary and probe
 * derive from these rows, so a new field needs only a row here. A field that lists show also needs its name
 * in `LISTED_FIELDS` and a heading in `report/words/`; after the first release, each new field needs a
 * migration (`store/schema/migrate.ts`).
 */

interface LeadFieldRow {
  /** `lead.<name>` is the key of the heading in `report/words/`. */
  readonly name: string
  /** The column in `lead` and `lead_version`, and the name of the field in a profile. */
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
  /** The path of the field in the records of the reference service, our own implementation of the API. */
  readonly wire?: string
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

export const LEAD_FIELDS = [
  {
    name: 'id',
    column: 'id',
    type: 'text',
    meaning: "the upstream's identifier, digit for digit; unique",
    wire: 'id',
  },
  {
    name: 'pipelineId',
    column: 'pipeline_id',
    type: 'text',
    absent: 'default',
    meaning: 'pipeline.id',
    hasHistory: true,
    wire: 'pipeline_id',
    looks: 'few',
    probe: `(pipeline|board|funnel)id pipeline(name|label|title)? boardname funnel(name)? listid ?
      projectid queueid campaignid teamid categoryid project queue team projectname queuename teamname
      stagesetid stagesetname group`,
  },
  {
    name: 'status',
    column: 'status',
    type: 'text',
    absent: 'unknown',
    meaning: 'stage.status',
    isFilter: true,
    hasHistory: true,
    wire: 'status',
    looks: 'stage',
    probe: `(pipeline|sales|contact|current)?(stage|step|phase|milestone)(name|label|title) statustitle
      (pipeline|sales|current)?(stage|step|phase|milestone) lifecyclestage
      (pipeline|contact)?(stage|step|phase)id statusname statelabel statename statuslabel status
      (contact)?statusid lifecyclestageid statuscode ? state disposition`,
  },
  {
    name: 'companyName',
    column: 'company_name',
    type: 'text',
    meaning: 'name of the company',
    isFilter: true,
    wire: 'company.name',
    looks: 'company',
    probe: `companyname organi[sz]ationname accountname company organi[sz]ation orgname account businessname
      companytitle partnername salesaccountname employer firm firmname customername clientname client contactcompanyname
      legalname ? name title subject displayname summary label topic`,
  },
  {
    name: 'companyDomain',
    column: 'company_domain',
    type: 'text',
    meaning: 'web address of the company without scheme, such as acme.com',
    isFilter: true,
    wire: 'company.domain',
    looks: 'domain',
    probe: `companydomain domain companywebsite website (company|organization)?websiteurl organizationdomain
      organizationprimarydomain accountdomain homepage companyurl organizationwebsite accountwebsite
      orgdomain firmdomain web(page|address|site)? companysite site url`,
  },
  {
    name: 'companyIndustry',
    column: 'company_industry',
    type: 'text',
    meaning: 'industry of the company',
    isFilter: true,
    wire: 'company.industry',
    probe: '(company|organization|account)?industry(name)? sector(name)? vertical',
  },
  {
    name: 'companySubindustry',
    column: 'company_subindustry',
    type: 'text',
    meaning: 'part of the industry that the company is in',
    isFilter: true,
    wire: 'company.subindustry',
  },
  {
    name: 'companyEmployees',
    column: 'company_employees',
    type: 'number',
    looks: 'headcount',
    // The minimum is -1, because some services send -1 for unknown.
    range: { min: -1, max: 1e12 },
    isWhole: true,
    meaning: 'number of people who work for the company',
    isFilter: true,
    wire: 'company.employees',
    probe: `(company|organization)?(employees|employeecount|headcount)
      (company)?(numberof|noof|num|total)employees employees(count|number) companysize
      organizationestimatednumemployees staff`,
  },
  {
    name: 'companyCity',
    column: 'company_city',
    type: 'text',
    meaning: 'city where the company is',
    isFilter: true,
    wire: 'company.city',
    probe: `companycity city *addresscity locationcity town addresslocality
      (billing|mailing|business|office|work|main)city`,
  },
  {
    name: 'companyCountry',
    column: 'company_country',
    type: 'text',
    meaning: 'country where the company is',
    isFilter: true,
    wire: 'company.country',
    probe: `companycountry country *addresscountry locationcountry countrycode countryname
      companycountrycode *addresscountrycode (billing|mailing|business|office|work|main)country(code)?`,
  },
  {
    name: 'companyRegion',
    column: 'company_region',
    type: 'text',
    meaning: 'region of the world or of the country where the company is',
    isFilter: true,
    wire: 'company.region',
    looks: 'region',
    probe: `companyregion region *address(region|state) stateorprovince *addressstateorprovince
      addressprovince locationstate province (billing|mailing|business|office|main)(state|region) ?
      state`,
  },
  {
    name: 'companyOneLiner',
    column: 'company_one_liner',
    type: 'text',
    meaning: 'what the company says about itself, in one sentence',
    wire: 'company.one_liner',
  },
  {
    name: 'contactName',
    column: 'contact_name',
    type: 'text',
    meaning: 'name of the person to talk to',
    isPersonal: true,
    isFilter: true,
    wire: 'contact.name',
    looks: 'person',
    probe: `contactname personname fullname contactfullname contact person contactperson maincontact(name)?
      ? name displayname title subject`,
  },
  {
    name: 'contactTitle',
    column: 'contact_title',
    type: 'text',
    meaning: 'position of the person to talk to',
    isPersonal: true,
    isFilter: true,
    wire: 'contact.title',
    looks: 'job',
    probe: `contacttitle jobtitle contactjobtitle persontitle contactposition designation jobposition ?
      title position role jobrole contactrole function occupation post`,
  },
  {
    name: 'contactEmail',
    column: 'contact_email',
    type: 'text',
    meaning: 'e-mail address of the person to talk to',
    isPersonal: true,
    isFilter: true,
    wire: 'contact.email',
    looks: 'email',
    probe: 'contactemail email emailaddress personemail mail primaryemail workemail emailvalue emailfrom',
  },
  {
    name: 'score',
    column: 'score',
    type: 'number',
    range: { min: -1e9, max: 1e9 },
    meaning: '0 to 100, null until scored',
    isFilter: true,
    hasHistory: true,
    wire: 'score',
    probe: 'score scorevalue hubspotscore fitscore (total|overall)score scoring ? points fit',
  },
  {
    name: 'valueAmount',
    column: 'value_amount',
    type: 'number',
    range: { min: -1e15, max: 1e15 },
    meaning: 'expected deal value in whole units of value_currency',
    isFilter: true,
    hasHistory: true,
    wire: 'value.amount',
    looks: 'amount',
    probe: `valueamount amountvalue value amount monetaryvalue
      (estimated|expected|projected|forecast)(value|amount) estimatedvalueamount valuecurrencyvalue
      money(amount|value)? closevalue expectedrevenue worth opportunity (total|contract)(value|amount) ?
      price revenue totalprice budget total`,
  },
  {
    name: 'valueCurrency',
    column: 'value_currency',
    type: 'text',
    meaning: 'currency of value_amount, ISO 4217',
    isFilter: true,
    hasHistory: true,
    wire: 'value.currency',
    looks: 'currency',
    probe: `valuecurrency amountcurrency currency currencycode currencyisocode monetaryunit
      valuecurrencycode moneycurrency currencyid ? *currency*`,
  },
  {
    name: 'source',
    column: 'source',
    type: 'text',
    meaning: 'where the discovering agent found the company',
    isFilter: true,
    wire: 'source',
    probe: `source sourcename origin originname sourceid sourcecode utmsource channel
      (acquisition|referral|marketing)(source|channel) ? medium campaign`,
  },
  {
    name: 'owner',
    column: 'owner',
    type: 'text',
    meaning: 'person who sells to the lead, by name or id as the upstream gives it',
    isPersonal: true,
    isFilter: true,
    hasHistory: true,
    wire: 'owner',
    probe: `ownername ownerfullname owner ownerusername owneremail ownerid owneridvalue hubspotownerid
      ownerreferencedactorid assigneename assignedtoname assignee assignedto assigneeid assignedtoid
      assignedby(id)? assigneduser(name)? salesrep salesagent salesperson salesrepname assigneduserid
      salespersoncode accountmanager accountowner responsible(user|person)?(name)?
      responsible(user|person)?id ownedby(id)? sales(owner|manager) assigned seller ? username user userid
      rep manager managerid`,
  },
  {
    name: 'agentId',
    column: 'agent_id',
    type: 'text',
    meaning: 'agent.id of the last agent that worked on it',
    isFilter: true,
    hasHistory: true,
    wire: 'agent_id',
    probe: 'agentid agent',
  },
  {
    name: 'tags',
    column: 'tags',
    type: 'list',
    meaning: 'tags that the upstream gives the lead, JSON array of text',
    isFilter: true,
    wire: 'tags',
    probe: 'tags tag(list|s?names) labels labelids tagids categories keywords segments tag',
  },
  {
    name: 'createdAt',
    column: 'created_at',
    type: 'instant',
    meaning: "UTC, by the upstream's clock: when the lead was created",
    wire: 'created_at',
    probe: `createdat creat(e|ed|ion)(at|on|date|time|datetime|ms|ts|timestamp)?
      (date|time)(created|creation|create|entered|added)
      (add|added|inserted|entered|registered|submitted)(at|on|date|time) ctime cdate engagedate`,
  },
  {
    name: 'updatedAt',
    column: 'updated_at',
    type: 'instant',
    meaning: "UTC, by the upstream's clock: when the lead last changed in any way",
    wire: 'updated_at',
    probe: `updatedat
      (last)?(update|updated|modify|modified|modification|change|changed|edited)(at|on|date|time|datetime|ms|ts|timestamp)?
      date(last)?(update|updated|modify|modified|changed) systemmodstamp writedate mtime touchedat udate
      mdate ? lastactivityat`,
  },
  {
    name: 'statusChangedAt',
    column: 'status_changed_at',
    type: 'instant',
    meaning:
      "UTC, by the upstream's clock: when the status began; updated_at if it does not say; by our clock if the lead was set back",
    wire: 'status_changed_at',
    probe: `*stage*chang* *status*chang* *stage*updat* *status*updat* *stage*modif* *status*modif*
      *enter*stage *stage*enter* stagesince statussince`,
  },
  {
    // It has no history, because all who read it ask for the present plan, and each delay would be a new version.
    name: 'expectedCloseAt',
    column: 'expected_close_at',
    type: 'instant',
    isPlanned: true,
    meaning: 'UTC: when the deal is expected to close; midnight if the upstream gives only the date',
    wire: 'expected_close_at',
    probe: `
      (expected|estimated|forecast|projected|target|planned|anticipated)(close|closing|closure)(at|on|date|time)?
      clos(e|ing|ure)date expecteddate datedeadline ? duedate deadline duetime`,
  },
] as const satisfies readonly LeadFieldRow[]

export type LeadField = (typeof LEAD_FIELDS)[number]

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

export function fieldsWith<K extends keyof LeadFieldRow>(
  key: K,
): readonly Extract<LeadField, Readonly<Record<K, unknown>>>[] {
  return LEAD_FIELDS.filter(
    (field): field is Extract<LeadField, Readonly<Record<K, unknown>>> => key in field,
  )
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
