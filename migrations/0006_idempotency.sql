-- The answer to a request that was carried out, kept so that a repeat gets the same one. key_hash is the SHA-256 of
-- the client's key. answer is sealed: some answers hold what must be shown once only.
create table idempotency_records (
  user_id text not null,
  endpoint text not null,
  key_hash text not null,
  body_hash text not null,
  status int,
  answer text,
  created_at timestamptz not null default now(),
  primary key (user_id, endpoint, key_hash)
);
-- Rows come in the order of their age, so a few pages of summary are enough to find the old ones.
create index idempotency_records_by_age on idempotency_records using brin (created_at);
