/** The tables of the service's database. */

/** The number that marks a file with these tables, in the pragma `user_version`. */
export const SCHEMA_VERSION = 1

export const SCHEMA = `
  create table simulation (
    id integer primary key check (id = 1),
    seed integer not null,
    epoch_at integer not null,
    simulated_until integer not null,
    made_at integer not null
  ) strict;

  create table api_key (
    id text primary key,
    name text not null,
    scope text not null check (scope in ('read', 'write')),
    prefix text not null,
    sha256 text not null unique,
    created_at integer not null
  ) strict;
  create index api_key_prefix on api_key (prefix);

  create table pipeline (
    id text primary key,
    name text not null,
    criteria text not null check (json_valid(criteria)),
    status text not null check (status in ('active', 'paused', 'completed')),
    created_at integer not null,
    updated_at integer not null
  ) strict;

  create table lead (
    id text primary key,
    pipeline_id text not null references pipeline (id),
    company_id integer not null,
    status text not null,
    company_name text not null,
    company_domain text,
    industry text,
    subindustry text,
    employees integer,
    city text,
    country text,
    region text,
    one_liner text,
    contact_name text,
    contact_title text,
    contact_email text,
    score integer check (score between 0 and 100),
    value_amount integer,
    value_currency text,
    source text not null,
    agent_id text,
    tags text not null check (json_valid(tags)),
    enrichment text check (json_valid(enrichment)),
    search_text text not null,
    created_at integer not null,
    updated_at integer not null,
    status_changed_at integer not null,
    next_step text,
    next_at integer,
    next_agent_id text,
    next_task_at integer,
    step_count integer not null,
    unique (pipeline_id, company_id)
  ) strict;
  -- The indexes for the sort orders of the list. The id at the end orders leads with equal values.
  create index lead_created on lead (created_at, id);
  create index lead_updated on lead (updated_at, id);
  create index lead_score on lead (ifnull(score, -1), id);
  create index lead_pipeline_updated on lead (pipeline_id, updated_at, id);
  create index lead_status_updated on lead (status, updated_at, id);
  create index lead_next on lead (next_at) where next_at is not null;

  create table removed_lead (
    lead_id text primary key,
    pipeline_id text not null references pipeline (id),
    company_id integer not null,
    deleted_at integer not null
  ) strict;

  create table activity (
    id integer primary key autoincrement,
    lead_id text not null references lead (id) on delete cascade,
    type text not null,
    at integer not null,
    agent_id text,
    summary text not null,
    from_status text,
    to_status text
  ) strict;
  create index activity_lead on activity (lead_id, id);
  create index activity_agent on activity (agent_id, at);

  create table event (
    id integer primary key autoincrement,
    type text not null,
    at integer not null,
    pipeline_id text,
    lead_id text,
    agent_id text,
    data text not null check (json_valid(data))
  ) strict;

  create table agent_incident (
    agent_id text not null,
    status text not null check (status in ('failing', 'paused')),
    started_at integer not null,
    ends_at integer not null,
    primary key (agent_id, started_at)
  ) strict;

  create table agent_error (
    id integer primary key,
    agent_id text not null,
    at integer not null,
    message text not null
  ) strict;
  create index agent_error_agent on agent_error (agent_id, at);

  create table webhook (
    id text primary key,
    url text not null,
    events text not null check (json_valid(events)),
    description text,
    status text not null check (status in ('active', 'disabled')),
    secret text not null,
    created_at integer not null,
    disabled_reason text,
    disabled_at integer,
    failing_since integer,
    paused_until integer,
    last_event_id integer not null default 0
  ) strict;

  create table webhook_message (
    id text primary key,
    webhook_id text not null references webhook (id) on delete cascade,
    event_id integer references event (id),
    type text not null,
    body text not null check (json_valid(body)),
    state text not null check (state in ('waiting', 'delivered', 'failed')),
    attempts integer not null,
    created_at integer not null,
    next_attempt_at integer,
    unique (webhook_id, event_id)
  ) strict;
  create index webhook_message_due on webhook_message (webhook_id, next_attempt_at) where state = 'waiting';
  create index webhook_message_created on webhook_message (created_at);

  create table webhook_attempt (
    id integer primary key autoincrement,
    webhook_id text not null references webhook (id) on delete cascade,
    message_id text not null references webhook_message (id) on delete cascade,
    attempt integer not null,
    at integer not null,
    status integer,
    error text,
    duration_ms integer not null
  ) strict;
  create index webhook_attempt_webhook on webhook_attempt (webhook_id, id);
  create index webhook_attempt_message on webhook_attempt (message_id);

  create table idempotent_answer (
    key_id text not null references api_key (id),
    path text not null,
    idempotency_key text not null,
    request_sha256 text not null,
    answer text not null,
    created_at integer not null,
    primary key (key_id, path, idempotency_key)
  ) strict;
`
