-- Accounts on the platforms, connected by their owners. Both tokens are sealed (src/sealing.ts) for their very row and
-- column. One platform account may be connected by several users: each has a row and tokens of their own.
-- Versions come from one sequence, so a row that is deleted and made again never meets a version of its past.
create sequence connected_account_versions;

create table connected_accounts (
  user_id text not null,
  platform text not null check (platform in
    ('twitter', 'instagram', 'facebook', 'threads', 'tiktok', 'youtube', 'linkedin', 'snapchat')),
  account_id text not null check (char_length(account_id) between 1 and 200),
  access_token text not null,
  refresh_token text,
  token_type text not null default 'bearer' check (token_type = 'bearer'),
  scope text not null,
  expires_in int not null check (expires_in > 0),
  expires_at timestamptz not null,
  refresh_expires_at timestamptz,
  display_name text not null check (char_length(display_name) <= 200),
  username text check (char_length(username) <= 200),
  avatar_url text check (char_length(avatar_url) <= 2048),
  author_urn text check (char_length(author_urn) <= 300),
  enabled_for_repost boolean not null default false,
  status text not null default 'active' check (status in ('active', 'needs_reconnect')),
  -- Changes whenever the tokens do, and with nothing else.
  token_version bigint not null default nextval('connected_account_versions'),
  -- Until then one worker is getting new tokens, and the others wait.
  refreshing_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (user_id, platform, account_id)
);

-- Connections on their way: id is the SHA-256 of the state value that travels. browser_hash is that of the cookie of the
-- browser that may finish. code is there, sealed, while somebody is asked whether to go on.
create table connection_states (
  id text primary key check (id ~ '^[0-9a-f]{64}$'),
  uid text not null,
  user_label text not null,
  provider text not null,
  return_to text,
  browser_hash text not null check (browser_hash ~ '^[0-9a-f]{64}$'),
  code_verifier text,
  code text,
  created_at timestamptz not null default now()
);
create index connection_states_by_age on connection_states (created_at);

-- People and dashboards may see who is connected, and no token in any form.
revoke select on connected_accounts, connection_states from herald_readonly;
grant select (
  user_id, platform, account_id, token_type, scope, expires_in, expires_at, refresh_expires_at, display_name, username,
  avatar_url, author_urn, enabled_for_repost, status, token_version, refreshing_until, created_at, updated_at
) on connected_accounts to herald_readonly;
