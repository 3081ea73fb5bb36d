-- What was said in a file, and what it cost. A row without finished_at is at work, or died at it.
create table transcriptions (
  id text primary key,
  user_id text not null,
  media_id text not null,
  -- The credits of each attempt are held under a key of its own: what a failure gave back is not taken up again.
  attempt integer not null default 1,
  status text not null default 'processing' check (status in ('processing', 'succeeded', 'failed')),
  credits integer not null check (credits > 0),
  language text,
  model text,
  seconds double precision,
  transcript text,
  segments jsonb,
  is_likely_lyrics boolean,
  error text,
  created_at timestamptz not null default clock_timestamp(),
  -- When whoever works at it must be dead.
  expires_at timestamptz not null,
  finished_at timestamptz
);
create index transcriptions_by_user on transcriptions (user_id, created_at desc, id desc);
create index transcriptions_unfinished on transcriptions (expires_at) where finished_at is null;
