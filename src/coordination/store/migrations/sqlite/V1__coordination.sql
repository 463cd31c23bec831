-- Times are milliseconds since 1970-01-01T00:00:00Z.

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL CHECK (status IN ('active', 'archived')),
    working_directory TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT,
    capabilities TEXT NOT NULL CHECK (json_type(capabilities) = 'array'),
    type TEXT NOT NULL CHECK (type IN ('ai', 'human')),
    ai_type TEXT NOT NULL DEFAULT 'claude',
    system_prompt TEXT,
    status TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'suspended', 'archived')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- Two may be live while a passkey is replaced.
CREATE TABLE agent_credentials (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    passkey_phc TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;
CREATE INDEX agent_credentials_live ON agent_credentials (agent_id) WHERE revoked_at IS NULL;

-- A row stays when the agent leaves: sessions and tasks point to it.
CREATE TABLE project_agents (
    project_id TEXT NOT NULL REFERENCES projects (id),
    agent_id TEXT NOT NULL REFERENCES agents (id),
    assigned_at INTEGER NOT NULL,
    unassigned_at INTEGER,
    PRIMARY KEY (project_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_agents_agent ON project_agents (agent_id);

CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    title TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL CHECK (status IN ('backlog', 'todo', 'in_progress', 'blocked', 'done', 'cancelled')),
    priority TEXT NOT NULL CHECK (priority IN ('urgent', 'high', 'medium', 'low')),
    assignee_id TEXT,
    assigned_at INTEGER,
    version INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    completed_at INTEGER,
    FOREIGN KEY (project_id, assignee_id) REFERENCES project_agents (project_id, agent_id)
) STRICT;
CREATE INDEX tasks_assignee ON tasks (assignee_id, project_id, status);
CREATE INDEX tasks_project ON tasks (project_id, status);

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    token_hash BLOB NOT NULL UNIQUE,
    instance_id TEXT,
    task_id TEXT REFERENCES tasks (id),
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    max_expires_at INTEGER NOT NULL,
    began_at INTEGER,
    ended_at INTEGER,
    end_reason TEXT CHECK (end_reason IN ('completed', 'logout', 'expired', 'revoked', 'superseded')),
    reply TEXT,
    CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    FOREIGN KEY (project_id, agent_id) REFERENCES project_agents (project_id, agent_id)
) STRICT;
-- The lease itself: at most one open session of a pair.
CREATE UNIQUE INDEX one_open ON sessions (agent_id, project_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_open ON sessions (created_at, id) WHERE ended_at IS NULL;

CREATE TABLE execution_logs (
    id TEXT PRIMARY KEY,
    task_id TEXT NOT NULL REFERENCES tasks (id),
    agent_id TEXT NOT NULL REFERENCES agents (id),
    session_id TEXT NOT NULL REFERENCES sessions (id),
    status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'error')),
    exit_code INTEGER,
    duration_seconds REAL,
    log_file_path TEXT,
    error_message TEXT,
    started_at INTEGER NOT NULL,
    completed_at INTEGER,
    CHECK ((status = 'running') = (completed_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX one_running ON execution_logs (session_id, task_id) WHERE status = 'running';
CREATE INDEX execution_logs_task ON execution_logs (task_id, started_at DESC, id DESC);
CREATE INDEX execution_logs_agent ON execution_logs (agent_id, started_at DESC, id DESC);
CREATE INDEX execution_logs_newest ON execution_logs (started_at DESC, id DESC);

CREATE TABLE contexts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (id),
    agent_id TEXT,
    session_id TEXT,
    progress TEXT,
    findings TEXT,
    blockers TEXT,
    next_steps TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX contexts_task ON contexts (task_id, seq DESC);

CREATE TABLE handoffs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (id),
    from_agent_id TEXT NOT NULL REFERENCES agents (id),
    to_agent_id TEXT REFERENCES agents (id),
    summary TEXT NOT NULL,
    context TEXT,
    recommendations TEXT,
    created_at INTEGER NOT NULL,
    accepted_at INTEGER,
    accepted_by TEXT REFERENCES agents (id),
    CHECK ((accepted_at IS NULL) = (accepted_by IS NULL))
) STRICT;
CREATE INDEX handoffs_task ON handoffs (task_id, seq DESC);
CREATE INDEX handoffs_pending ON handoffs (to_agent_id) WHERE accepted_at IS NULL;

CREATE TABLE access_tokens (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL CHECK (scope IN ('runner', 'agent', 'admin')),
    agent_id TEXT REFERENCES agents (id),
    token_hash BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    CHECK ((scope = 'agent') = (agent_id IS NOT NULL))
) STRICT;

CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    project_id TEXT,
    event_type TEXT NOT NULL,
    actor TEXT,
    session_id TEXT,
    before TEXT,
    after TEXT,
    reason TEXT
) STRICT;
CREATE INDEX events_entity ON events (entity_type, entity_id, seq);
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN
    SELECT RAISE(ABORT, 'events are only added');
END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events BEGIN
    SELECT RAISE(ABORT, 'events are only added');
END;
