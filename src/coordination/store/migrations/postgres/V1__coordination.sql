-- Times are milliseconds since 1970-01-01T00:00:00Z. Text is compared by its bytes, as SQLite does.

CREATE TABLE projects (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'archived')),
    working_directory TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE agents (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C",
    capabilities TEXT COLLATE "C" NOT NULL CHECK (json_typeof(capabilities::json) = 'array'),
    type TEXT COLLATE "C" NOT NULL CHECK (type IN ('ai', 'human')),
    ai_type TEXT COLLATE "C" NOT NULL DEFAULT 'claude',
    system_prompt TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'inactive', 'suspended', 'archived')),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Two may be live while a passkey is replaced.
CREATE TABLE agent_credentials (
    id TEXT COLLATE "C" PRIMARY KEY,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
    passkey_phc TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX agent_credentials_live ON agent_credentials (agent_id) WHERE revoked_at IS NULL;

-- A row stays when the agent leaves: sessions and tasks point to it.
CREATE TABLE project_agents (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
    assigned_at BIGINT NOT NULL,
    unassigned_at BIGINT,
    PRIMARY KEY (project_id, agent_id)
);
CREATE INDEX project_agents_agent ON project_agents (agent_id);

CREATE TABLE tasks (
    id TEXT COLLATE "C" PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    title TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('backlog', 'todo', 'in_progress', 'blocked', 'done', 'cancelled')),
    priority TEXT COLLATE "C" NOT NULL CHECK (priority IN ('urgent', 'high', 'medium', 'low')),
    assignee_id TEXT COLLATE "C",
    assigned_at BIGINT,
    version BIGINT NOT NULL DEFAULT 1,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    completed_at BIGINT,
    FOREIGN KEY (project_id, assignee_id) REFERENCES project_agents (project_id, agent_id)
);
CREATE INDEX tasks_assignee ON tasks (assignee_id, project_id, status);
CREATE INDEX tasks_project ON tasks (project_id, status);

CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    agent_id TEXT COLLATE "C" NOT NULL,
    project_id TEXT COLLATE "C" NOT NULL,
    token_hash BYTEA NOT NULL UNIQUE,
    instance_id TEXT COLLATE "C",
    task_id TEXT COLLATE "C" REFERENCES tasks (id),
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    max_expires_at BIGINT NOT NULL,
    began_at BIGINT,
    ended_at BIGINT,
    end_reason TEXT COLLATE "C" CHECK (end_reason IN ('completed', 'logout', 'expired', 'revoked', 'superseded')),
    reply TEXT COLLATE "C",
    CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    FOREIGN KEY (project_id, agent_id) REFERENCES project_agents (project_id, agent_id)
);
-- The lease itself: at most one open session of a pair.
CREATE UNIQUE INDEX one_open ON sessions (agent_id, project_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_open ON sessions (created_at, id) WHERE ended_at IS NULL;

CREATE TABLE execution_logs (
    id TEXT COLLATE "C" PRIMARY KEY,
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (id),
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'error')),
    exit_code BIGINT,
    duration_seconds DOUBLE PRECISION,
    log_file_path TEXT COLLATE "C",
    error_message TEXT COLLATE "C",
    started_at BIGINT NOT NULL,
    completed_at BIGINT,
    CHECK ((status = 'running') = (completed_at IS NULL))
);
CREATE UNIQUE INDEX one_running ON execution_logs (session_id, task_id) WHERE status = 'running';
CREATE INDEX execution_logs_task ON execution_logs (task_id, started_at DESC, id DESC);
CREATE INDEX execution_logs_agent ON execution_logs (agent_id, started_at DESC, id DESC);
CREATE INDEX execution_logs_newest ON execution_logs (started_at DESC, id DESC);

CREATE TABLE contexts (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
    agent_id TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    progress TEXT COLLATE "C",
    findings TEXT COLLATE "C",
    blockers TEXT COLLATE "C",
    next_steps TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);
CREATE INDEX contexts_task ON contexts (task_id, seq DESC);

CREATE TABLE handoffs (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
    from_agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id),
    to_agent_id TEXT COLLATE "C" REFERENCES agents (id),
    summary TEXT COLLATE "C" NOT NULL,
    context TEXT COLLATE "C",
    recommendations TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    accepted_at BIGINT,
    accepted_by TEXT COLLATE "C" REFERENCES agents (id),
    CHECK ((accepted_at IS NULL) = (accepted_by IS NULL))
);
CREATE INDEX handoffs_task ON handoffs (task_id, seq DESC);
CREATE INDEX handoffs_pending ON handoffs (to_agent_id) WHERE accepted_at IS NULL;

CREATE TABLE access_tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    scope TEXT COLLATE "C" NOT NULL CHECK (scope IN ('runner', 'agent', 'admin')),
    agent_id TEXT COLLATE "C" REFERENCES agents (id),
    token_hash BYTEA NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    CHECK ((scope = 'agent') = (agent_id IS NOT NULL))
);

CREATE TABLE events (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    entity_type TEXT COLLATE "C" NOT NULL,
    entity_id TEXT COLLATE "C" NOT NULL,
    project_id TEXT COLLATE "C",
    event_type TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    before TEXT COLLATE "C",
    after TEXT COLLATE "C",
    reason TEXT COLLATE "C"
);
CREATE INDEX events_entity ON events (entity_type, entity_id, seq);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are only added';
END
$$;
CREATE TRIGGER events_are_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
