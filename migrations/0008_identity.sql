-- The built-in identity provider's own tables. Better Auth reads and writes them under these names and never changes
-- them: src/auth/identity-tables.ts maps its words to these columns.
create table identity_users (
  id text primary key,
  name text not null check (char_length(name) <= 200),
  email text not null unique check (email = lower(email) and char_length(email) <= 320),
  email_verified boolean not null default false,
  image text check (char_length(image) <= 2048),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- The cookie carries the token and its HMAC, so what is stored here opens no session by itself.
create table identity_sessions (
  id text primary key,
  user_id text not null references identity_users on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index identity_sessions_by_user on identity_sessions (user_id);

-- Use moves expires_at forward (the idle limit); nothing moves it past 30 days from sign-in (the absolute limit).
create function cap_session() returns trigger language plpgsql as $$
begin
  new.expires_at := least(new.expires_at, new.created_at + interval '30 days');
  return new;
end
$$;
create trigger cap_session before insert or update on identity_sessions for each row execute function cap_session();

-- How a user proves who they are: here always a password, as the hash of it.
create table identity_accounts (
  id text primary key,
  user_id text not null references identity_users on delete cascade,
  provider_id text not null,
  account_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider_id, account_id)
);
create index identity_accounts_by_user on identity_accounts (user_id);

create table identity_verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index identity_verifications_by_identifier on identity_verifications (identifier);

-- Keys that sign ID tokens. private_key is encrypted with AUTH_SECRET.
create table identity_jwks (
  id text primary key,
  public_key text not null,
  private_key text not null,
  alg text,
  crv text,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);

-- Password hashes, sessions and signing keys are no matter for people and dashboards.
revoke select on identity_sessions, identity_accounts, identity_verifications, identity_jwks from herald_readonly;
