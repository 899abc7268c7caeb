ALTER TABLE requests ADD COLUMN definition TEXT NOT NULL DEFAULT '';
CREATE INDEX requests_tool ON requests (session, tool);
