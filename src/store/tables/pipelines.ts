/** The tables of the stages, the pipelines with their statistics, and the agents. */

export const PIPELINES = [
  `CREATE TABLE stage ( -- one row per status that a lead can have, in funnel order
    status TEXT PRIMARY KEY, -- name of the status, as in lead.status
    position INTEGER NOT NULL, -- order of the statuses, from 0
    outcome TEXT NOT NULL CHECK (outcome IN ('open', 'won', 'lost', 'disqualified')), -- how a lead with this status counts: open, won, lost or disqualified
    in_funnel INTEGER NOT NULL CHECK (in_funnel IN (0, 1)), -- 1: a step of the funnel, on the way to being won; 0: it is not
    is_qualified INTEGER NOT NULL DEFAULT 0 -- 1: a lead in this stage counts as qualified; 0 for all stages if the profile marks none
  ) STRICT`,

  `CREATE TABLE pipeline ( -- one row per pipeline that appears in a lead or in the settings
    id TEXT PRIMARY KEY, -- the upstream's identifier of the pipeline
    name TEXT NOT NULL, -- name of the pipeline; its id until the upstream's statistics give a name
    status TEXT, -- such as active, paused, completed; null if the upstream does not say
    first_seen_at TEXT NOT NULL, -- UTC, by our clock: when it first appeared in a lead or in the settings
    observed_at TEXT NOT NULL -- UTC, by our clock: when name and status were last read
  ) STRICT`,

  `CREATE TABLE pipeline_stat ( -- one row per sample of a pipeline's statistics, as the upstream computes them
    pipeline_id TEXT NOT NULL REFERENCES pipeline (id),
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read it
    as_of TEXT NOT NULL, -- UTC, by the upstream's clock: the time that the numbers describe
    run_id TEXT NOT NULL, -- sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time
    leads INTEGER, -- all leads that the pipeline ever had
    open INTEGER, -- leads that are open
    won INTEGER, -- leads that were won
    lost INTEGER, -- leads that were lost
    disqualified INTEGER, -- leads that were disqualified
    win_rate REAL, -- won / (won + lost), 0 to 1
    open_value_amount REAL, -- value of the open leads, in whole units of open_value_currency
    open_value_currency TEXT, -- currency of open_value_amount, ISO 4217
    won_value_amount REAL, -- value of the leads won, in whole units of won_value_currency
    won_value_currency TEXT, -- currency of won_value_amount, ISO 4217
    raw TEXT NOT NULL, -- the answer as the upstream sent it, JSON
    PRIMARY KEY (pipeline_id, observed_at)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE pipeline_stage_stat ( -- one row per stage of a sample in pipeline_stat
    pipeline_id TEXT NOT NULL,
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read it
    status TEXT NOT NULL, -- stage.status
    current INTEGER NOT NULL, -- leads with this status at that time
    reached INTEGER NOT NULL, -- leads that ever had this status or a later status
    conversion REAL, -- reached, divided by reached of the stage before, 0 to 1
    median_hours REAL, -- median time that leads spent in the stage, of those that left it
    PRIMARY KEY (pipeline_id, observed_at, status),
    FOREIGN KEY (pipeline_id, observed_at) REFERENCES pipeline_stat (pipeline_id, observed_at)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE agent ( -- one row per agent, as last read
    id TEXT PRIMARY KEY, -- the upstream's identifier of the agent
    name TEXT NOT NULL, -- name of the agent
    kind TEXT, -- such as discovery, enrichment, scoring, outreach
    status TEXT NOT NULL, -- such as running, idle, failing, paused
    status_changed_at TEXT, -- UTC, by the upstream's clock: when its status last changed
    task_type TEXT, -- type of its current task; null if it has none
    task_pipeline_id TEXT, -- pipeline.id of the pipeline that it works for now
    task_lead_id TEXT, -- lead.id of the lead that it works on now
    task_started_at TEXT, -- UTC, by the upstream's clock: when it began its task
    task_progress REAL, -- how much of its task is done, 0 to 1
    last_seen_at TEXT, -- UTC, by the upstream's clock: when the agent last reported
    tasks_24h INTEGER, -- tasks done in the last 24 hours
    errors_24h INTEGER, -- tasks that failed in the last 24 hours
    last_error_at TEXT, -- UTC, by the upstream's clock: when it last failed
    last_error_message TEXT, -- why it last failed
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read it
    deleted_since TEXT, -- UTC, by our clock: since when the upstream no longer lists it; null while it does
    raw TEXT NOT NULL -- the record as the upstream sent it, JSON
  ) STRICT`,

  `CREATE TABLE agent_sample ( -- one row per agent and sample: the time series of the states of agents
    agent_id TEXT NOT NULL REFERENCES agent (id), -- agent.id
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read it
    run_id TEXT NOT NULL, -- sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time
    status TEXT NOT NULL, -- such as running, idle, failing, paused
    task_type TEXT, -- type of its current task; null if it has none
    task_pipeline_id TEXT, -- pipeline.id of the pipeline that it works for
    tasks_24h INTEGER, -- tasks done in the last 24 hours
    errors_24h INTEGER, -- tasks that failed in the last 24 hours
    PRIMARY KEY (agent_id, observed_at)
  ) STRICT, WITHOUT ROWID`,
] as const
