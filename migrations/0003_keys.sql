-- id is the SHA-256 of the raw key in hex; the raw key is not stored anywhere.
create table api_keys (
  id text primary key check (id ~ '^[0-9a-f]{64}$'),
  user_id text not null,
  name text check (char_length(name) between 1 and 100),
  last_four text not null check (char_length(last_four) = 4),
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index api_keys_by_user on api_keys (user_id, created_at desc);
