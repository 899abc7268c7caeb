package main

// schema makes the tables. Times are dates, because ages are told in days.
const schema = `
CREATE TABLE IF NOT EXISTS issues (
	number  INTEGER PRIMARY KEY AUTOINCREMENT,
	title   TEXT NOT NULL,
	body    TEXT NOT NULL DEFAULT '',
	author  TEXT NOT NULL DEFAULT 'agent',
	created TEXT NOT NULL DEFAULT (date('now')),
	closed  TEXT
);
CREATE TABLE IF NOT EXISTS labels (
	issue INTEGER NOT NULL REFERENCES issues(number),
	name  TEXT NOT NULL,
	PRIMARY KEY (issue, name)
);
CREATE TABLE IF NOT EXISTS comments (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	issue   INTEGER NOT NULL REFERENCES issues(number),
	author  TEXT NOT NULL DEFAULT 'agent',
	body    TEXT NOT NULL,
	created TEXT NOT NULL DEFAULT (date('now'))
);
CREATE TABLE IF NOT EXISTS branches (
	name   TEXT PRIMARY KEY,
	issue  INTEGER REFERENCES issues(number),
	author TEXT NOT NULL,
	merged INTEGER NOT NULL DEFAULT 0
);`

// seed is a small web application's tracker, as old as its days say.
const seed = `
INSERT INTO issues (number, title, body, author, created, closed) VALUES
	(1, 'Typo on the pricing page', '"Anual" should be "annual".', 'ana', date('now','-88 days'), date('now','-61 days')),
	(2, 'Dark mode for the settings page', 'The rest of the application has it.', 'bo', date('now','-84 days'), NULL),
	(3, 'Export crashes on an empty project', 'index out of range [0] in export.go. Steps: new project, Export, CSV.', 'cy', date('now','-47 days'), NULL),
	(4, 'Upgrade the PostgreSQL driver', 'The one that we use is out of support.', 'dee', date('now','-40 days'), date('now','-12 days')),
	(5, 'Slow search with more than 10,000 projects', 'The query plan has a sequential scan.', 'ana', date('now','-33 days'), NULL),
	(6, 'Invitation mail says "undefined"', 'Only when the inviter has no display name.', 'eli', date('now','-20 days'), date('now','-18 days')),
	(7, 'Flaky test: TestRetryBackoff', 'Fails about once in 40 runs on the arm64 machines.', 'dee', date('now','-9 days'), NULL),
	(8, 'Let owners rename a workspace', '', 'bo', date('now','-6 days'), NULL),
	(9, 'Login answers 500 after a deploy', 'session store: unknown key version 3', 'cy', date('now','-1 days'), NULL);
INSERT INTO labels (issue, name) VALUES (1, 'docs'), (2, 'feature'), (4, 'chore'), (6, 'bug');
INSERT INTO comments (issue, author, body, created) VALUES
	(2, 'ana', 'Design is done, see the shared board.', date('now','-80 days')),
	(3, 'bo', 'Happens every time.', date('now','-46 days')),
	(3, 'dee', 'The header row is taken from the first record.', date('now','-45 days')),
	(9, 'ana', 'Started right after the release of this morning.', date('now','-1 days')),
	(9, 'eli', 'Signing out and in again helps.', date('now'));
INSERT INTO branches (name, issue, author, merged) VALUES
	('main', NULL, 'ana', 0),
	('fix-typo', 1, 'ana', 1),
	('dark-mode', 2, 'bo', 0),
	('pg-driver', 4, 'dee', 1),
	('fix-login', 9, 'cy', 0);`
