CREATE TABLE requests (
	seq         INTEGER PRIMARY KEY,
	id          TEXT NOT NULL UNIQUE,
	session     TEXT NOT NULL,
	tool        TEXT NOT NULL,
	command     TEXT NOT NULL,
	arguments   TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	risk        TEXT NOT NULL,
	mode        TEXT NOT NULL,
	asked_at    BIGINT NOT NULL,
	expires_at  BIGINT NOT NULL,
	identity    TEXT NOT NULL,
	run         TEXT NOT NULL,
	decision    TEXT NOT NULL DEFAULT '',
	answered_by TEXT NOT NULL DEFAULT '',
	used_at     BIGINT,
	used_by     TEXT
);
CREATE INDEX requests_call ON requests (session, fingerprint);
CREATE TABLE standing (
	session     TEXT NOT NULL,
	identity    TEXT NOT NULL,
	decision    TEXT NOT NULL,
	request     TEXT NOT NULL,
	answered_by TEXT NOT NULL,
	PRIMARY KEY (session, identity)
);
CREATE TABLE events (
	seq     INTEGER PRIMARY KEY,
	at      BIGINT NOT NULL,
	what    TEXT NOT NULL,
	request TEXT NOT NULL,
	session TEXT NOT NULL,
	command TEXT NOT NULL,
	who     TEXT NOT NULL,
	run     TEXT NOT NULL
);
