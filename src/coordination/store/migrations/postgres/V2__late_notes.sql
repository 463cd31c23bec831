-- A late note is from the report of an agent whose task has another assignee by then, with notes of its own.
ALTER TABLE contexts ADD COLUMN late BIGINT NOT NULL DEFAULT 0 CHECK (late IN (0, 1));
