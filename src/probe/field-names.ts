/** How fields of leads are called in the world, and what their values look like. Data, no logic. */
import type { LEAD_FIELDS } from '../upstream/profile/profile.ts'

type LeadField = (typeof LEAD_FIELDS)[number]

export interface FieldSign {
  /** Names in lower case without signs, the best first; a dot stands between the last two names of a path. */
  readonly names: readonly string[]
  readonly kind: 'text' | 'number' | 'instant' | 'email' | 'domain' | 'currency' | 'list' | 'few' | 'count'
}

const words = (text: string): string[] => text.trim().split(/\s+/)

export const LEAD_SIGNS: Readonly<Partial<Record<LeadField, FieldSign>>> = {
  created_at: {
    kind: 'instant',
    names: words(`
      createdat created datecreated createdon createddate creationdate createdtime createtime createdate
      addtime insertedat addedat createdatetime createdms createdts ctime registeredat
      cdate dateentered datecreate engagedate`),
  },
  updated_at: {
    kind: 'instant',
    names: words(`
      updatedat updated modifiedat lastmodified dateupdated updatedon updateddate lastupdated
      lastupdatedat lastmodifieddate lastmodifiedat modifiedon datemodified modified updatetime
      updatedtime modifieddate modifiedtime hslastmodifieddate changedat changed systemmodstamp updatedms
      updatedts mtime lastchange lastchanged lastactivityat modificationdate touchedat editedat
      udate datemodify`),
  },
  status_changed_at: {
    kind: 'instant',
    names: words(`
      statuschangedat stagechangedat stagechangetime statusupdatedat stageupdatedat stagesince statussince
      closedate`),
  },
  status: {
    kind: 'few',
    names: words(`
      status.name stage.name state.name status.label stage.label status stage leadstatus leadstage
      statuslabel stagename statusname pipelinestage dealstage lifecyclestage phase step state stageid
      statusid hsleadstatus statuscode`),
  },
  score: {
    kind: 'number',
    names: words(`
      score leadscore rating hubspotscore points grade fit fitscore rank probability score.value quality`),
  },
  company_name: {
    kind: 'text',
    names: words(`
      company.name organization.name organisation.name account.name companyname company org.name orgname
      organizationname accountname organization organisation account businessname employer firm
      business.name firm.name client customername`),
  },
  company_domain: {
    kind: 'domain',
    names: words(`
      company.domain companydomain domain company.website website organization.domain account.domain
      companywebsite websiteurl homepage web site url org.domain organization.website account.website
      firm.domain`),
  },
  company_industry: {
    kind: 'text',
    names: words(`
      company.industry industry companyindustry sector organization.industry account.industry vertical`),
  },
  company_employees: {
    kind: 'number',
    names: words(`
      company.employees employees employeecount numberofemployees companysize headcount numemployees
      company.size company.headcount organization.employees staff`),
  },
  company_city: {
    kind: 'text',
    names: words('company.city city address.city location.city companycity town'),
  },
  company_country: {
    kind: 'text',
    names: words(`
      company.country country address.country location.country countrycode companycountry
      company.countrycode`),
  },
  company_region: {
    kind: 'text',
    names: words('company.region region address.region address.state province'),
  },
  contact_name: {
    kind: 'text',
    names: words(`
      contact.name contactname person.name fullname contact.fullname personname contact person displayname
      leadname name`),
  },
  contact_title: {
    kind: 'text',
    names: words(`
      contact.title jobtitle contacttitle contact.jobtitle person.title position role contact.role
      contact.position`),
  },
  contact_email: {
    kind: 'email',
    names: words(`
      contact.email email emailaddress contactemail person.email mail primaryemail workemail email.address
      email.value`),
  },
  value_amount: {
    kind: 'number',
    names: words(`
      value.amount amount.value dealvalue value amount estimatedvalue dealamount leadvalue expectedrevenue
      opportunityvalue worth price revenue totalprice budget value.value amount.amount money.amount
      closevalue total`),
  },
  value_currency: {
    kind: 'currency',
    names: words(`
      value.currency amount.currency currency currencycode currencyisocode valuecurrency dealcurrency
      money.currency`),
  },
  source: {
    kind: 'text',
    names: words(`
      source leadsource source.name sourcename origin channel utmsource medium originname campaign`),
  },
  agent_id: {
    kind: 'text',
    names: words(`
      agentid ownerid owner.id agent.id assigneeid assignedto assignee.id owner agent assignee userid
      user.id hubspotownerid ownername assignedtoid salesrep rep`),
  },
  pipeline_id: {
    kind: 'few',
    names: words(`
      pipelineid pipeline.id pipeline campaignid campaign.id listid funnelid boardid pipelinename`),
  },
  tags: {
    kind: 'list',
    names: words('tags labels labelids tagnames categories keywords segments tag'),
  },
}

export const FIRST_NAMES = ['firstname', 'givenname', 'first', 'forename', 'fname'] as const
export const LAST_NAMES = ['lastname', 'familyname', 'surname', 'last', 'lname'] as const

/** What a status means by its words: the first that fits. */
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

/** Words of stages in the order of a funnel. */
export const FUNNEL_WORDS = [
  /^(new|open|raw|created|incoming|inbox|fresh|cold|lead|subscriber|discovered|backlog|todo|todo)/i,
  /enrich|research|assign|pending|queued/i,
  /contact|attempt|outreach|reach|sent|warm/i,
  /repl|respon|engag|working|in[ _-]?progress|connected|nurtur|active/i,
  /qualif|mql|sql|interested|hot/i,
  /meeting|demo|call|appoint|discovery|present/i,
  /propos|quot|offer|evaluat|trial|opportunit/i,
  /negotiat|contract|verbal|commit|decision/i,
] as const
