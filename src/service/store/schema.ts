/** The tables of the service's database. Instants are whole milliseconds since 1970. */

/** The number that marks a file with these tables, in the pragma `user_version`. */
export const SCHEMA_VERSION = 1

export const TABLES = [
  `CREATE TABLE simulation ( -- one row: the state of the simulation
    id INTEGER NOT NULL CHECK (id = 1),
    seed INTEGER NOT NULL,
    epoch_at INTEGER NOT NULL,
    simulated_until INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (id)
  ) STRICT`,

  `CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('read', 'write')),
    sha256 TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
  ) STRICT`,

  `CREATE TABLE pipeline (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    criteria TEXT NOT NULL CHECK (json_valid(criteria)), -- the contract's Criteria
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'completed')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT`,

  `CREATE TABLE lead (
    id TEXT PRIMARY KEY,
    pipeline_id TEXT NOT NULL REFERENCES pipeline (id),
    company_id INTEGER NOT NULL,
    status TEXT NOT NULL,
    company_name TEXT NOT NULL,
    company_domain TEXT,
    industry TEXT,
    subindustry TEXT,
    employees INTEGER,
    city TEXT,
    country TEXT,
    region TEXT,
    one_liner TEXT,
    contact_name TEXT,
    contact_title TEXT,
    contact_email TEXT,
    score INTEGER CHECK (score BETWEEN 0 AND 100),
    value_amount INTEGER,
    value_currency TEXT,
    source TEXT NOT NULL,
    owner TEXT, -- the name of the person who sells to the lead
    agent_id TEXT,
    tags TEXT NOT NULL CHECK (json_valid(tags)), -- an array of strings
    enrichment TEXT CHECK (json_valid(enrichment)), -- an object; null until the lead is enriched
    search_text TEXT NOT NULL, -- what the query q searches, in lower case and without accents
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    status_changed_at INTEGER NOT NULL,
    expected_close_at INTEGER, -- midnight of a date; null until the first meeting
    next_step TEXT, -- null if there is none; the next three columns are then null too
    next_at INTEGER, -- when the step is done
    next_agent_id TEXT, -- the agent that does it
    next_task_at INTEGER, -- when the agent begins to work on it
    step_count INTEGER NOT NULL, -- the steps already done, from which each step draws its random numbers
    UNIQUE (pipeline_id, company_id)
  ) STRICT`,

  `CREATE TABLE removed_lead (
    lead_id TEXT PRIMARY KEY,
    pipeline_id TEXT NOT NULL REFERENCES pipeline (id),
    company_id INTEGER NOT NULL,
    deleted_at INTEGER NOT NULL
  ) STRICT`,

  `CREATE TABLE activity (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    lead_id TEXT NOT NULL REFERENCES lead (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    agent_id TEXT,
    summary TEXT NOT NULL,
    from_status TEXT,
    to_status TEXT
  ) STRICT`,

  `CREATE TABLE event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    pipeline_id TEXT,
    lead_id TEXT,
    agent_id TEXT,
    data TEXT NOT NULL CHECK (json_valid(data)) -- the field data as the API sends it
  ) STRICT`,

  `CREATE TABLE agent_incident (
    agent_id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('failing', 'paused')),
    started_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, started_at)
  ) STRICT`,

  `CREATE TABLE agent_error (
    id INTEGER PRIMARY KEY,
    agent_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    message TEXT NOT NULL
  ) STRICT`,

  `CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    events TEXT NOT NULL CHECK (json_valid(events)), -- the wanted types: an array of strings
    description TEXT,
    status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
    secret TEXT NOT NULL, -- in plain text, because signing a message needs it
    created_at INTEGER NOT NULL,
    disabled_reason TEXT,
    disabled_at INTEGER,
    failing_since INTEGER, -- the first failure since a message was last delivered
    paused_until INTEGER, -- the end of the pause that the receiver asked for
    last_event_id INTEGER NOT NULL -- the last event that was checked; later events have no messages yet
  ) STRICT`,

  `CREATE TABLE webhook_message ( -- an event or a test message; its times are real, not simulated
    id TEXT PRIMARY KEY, -- such as msg_…, which every attempt sends in the header webhook-id
    webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event_id INTEGER REFERENCES event (id), -- null for a test message
    type TEXT NOT NULL,
    body TEXT NOT NULL CHECK (json_valid(body)), -- what every attempt sends
    state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    next_attempt_at INTEGER,
    UNIQUE (webhook_id, event_id)
  ) STRICT`,

  `CREATE TABLE webhook_attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL REFERENCES webhook_message (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER,
    error TEXT,
    duration_ms INTEGER NOT NULL
  ) STRICT`,

  `CREATE TABLE idempotent_answer (
    key_id TEXT NOT NULL REFERENCES api_key (id),
    path TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,
    answer TEXT NOT NULL, -- the body of the first answer, which repeated requests get too
    created_at INTEGER NOT NULL,
    PRIMARY KEY (key_id, path, idempotency_key)
  ) STRICT`,
] as const

export const INDEXES = [
  // The sort orders of the list. The id at the end orders leads with equal values.
  'CREATE INDEX lead_created ON lead (created_at, id)',
  'CREATE INDEX lead_updated ON lead (updated_at, id)',
  'CREATE INDEX lead_score ON lead (ifnull(score, -1), id)',
  'CREATE INDEX lead_pipeline_updated ON lead (pipeline_id, updated_at, id)',
  'CREATE INDEX lead_status_updated ON lead (status, updated_at, id)',
  'CREATE INDEX lead_next ON lead (next_at) WHERE next_at IS NOT NULL',
  'CREATE INDEX activity_lead ON activity (lead_id, id)',
  'CREATE INDEX activity_agent ON activity (agent_id, at)',
  'CREATE INDEX agent_error_agent ON agent_error (agent_id, at)',
  "CREATE INDEX webhook_message_due ON webhook_message (webhook_id, next_attempt_at) WHERE state = 'waiting'",
  'CREATE INDEX webhook_message_created ON webhook_message (created_at)',
  'CREATE INDEX webhook_attempt_webhook ON webhook_attempt (webhook_id, id)',
  'CREATE INDEX webhook_attempt_message ON webhook_attempt (message_id)',
] as const
