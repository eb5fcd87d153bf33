-- What one would write by hand for the same work: a row for each object, an index for each way
-- that it is looked for, counters where they are counted.

CREATE TABLE directory (
  id INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  ordinary_pending INTEGER NOT NULL,
  notification_pending INTEGER NOT NULL,
  profiles TEXT NOT NULL,
  availability TEXT NOT NULL
);

CREATE TABLE agent (
  id INTEGER PRIMARY KEY,
  directory INTEGER NOT NULL REFERENCES directory,
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  instructions TEXT NOT NULL,
  settings TEXT NOT NULL,
  max_pending INTEGER NOT NULL,
  max_ordinary_pending INTEGER NOT NULL,
  notify_completions INTEGER NOT NULL,
  completions INTEGER NOT NULL
);

CREATE TABLE thread (
  id INTEGER PRIMARY KEY,
  directory INTEGER NOT NULL REFERENCES directory,
  agent INTEGER NOT NULL REFERENCES agent,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  archived INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  next_item INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  active INTEGER
);
CREATE INDEX thread_of_agent ON thread (agent);

CREATE TABLE request (
  id INTEGER PRIMARY KEY,
  directory INTEGER NOT NULL REFERENCES directory,
  thread INTEGER NOT NULL REFERENCES thread,
  text TEXT NOT NULL,
  data TEXT,
  configuration TEXT NOT NULL,
  configuration_digest TEXT NOT NULL,
  response_kind TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  source_kind TEXT NOT NULL,
  source_label TEXT NOT NULL,
  publication TEXT,
  causal_depth INTEGER NOT NULL,
  interactive INTEGER NOT NULL,
  spawned INTEGER NOT NULL,
  status TEXT NOT NULL,
  attempt TEXT NOT NULL,
  generation INTEGER NOT NULL,
  reason TEXT NOT NULL,
  result TEXT,
  raw_output TEXT,
  usage TEXT,
  started_at TEXT,
  ended_at TEXT,
  cancel_requested INTEGER NOT NULL,
  retry_count INTEGER NOT NULL,
  notification_pending INTEGER NOT NULL
);
CREATE INDEX request_of_thread ON request (thread);
CREATE INDEX request_pending ON request (directory, id)
  WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX request_to_notify ON request (directory, id) WHERE notification_pending;

CREATE TABLE item (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL REFERENCES thread,
  request INTEGER NOT NULL REFERENCES request,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  phase TEXT NOT NULL,
  activity TEXT,
  presentation TEXT,
  sequence INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE UNIQUE INDEX item_of_request ON item (request, key);
CREATE UNIQUE INDEX item_of_thread ON item (thread, sequence);

CREATE TABLE question (
  id INTEGER PRIMARY KEY,
  request INTEGER NOT NULL REFERENCES request,
  key TEXT NOT NULL,
  title TEXT NOT NULL,
  options TEXT NOT NULL,
  status TEXT NOT NULL,
  answer TEXT,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  attempt TEXT NOT NULL,
  generation INTEGER NOT NULL
);
CREATE INDEX question_of_request ON question (request, key);

CREATE TABLE completion (
  agent INTEGER NOT NULL REFERENCES agent,
  position INTEGER NOT NULL,
  request INTEGER NOT NULL REFERENCES request,
  thread INTEGER NOT NULL REFERENCES thread,
  status TEXT NOT NULL,
  PRIMARY KEY (agent, position)
) WITHOUT ROWID;
