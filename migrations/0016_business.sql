-- What the business-data functions keep. Everything hangs below its business, and ids are the callers' own: two
-- businesses may use the same ones. A business is there as soon as anything is written below it.
create table businesses (
  id text primary key check (char_length(id) between 1 and 200),
  name text,
  url text,
  description text,
  details json,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

create table participants (
  business_id text not null references businesses,
  id text not null check (char_length(id) between 1 and 200),
  persona jsonb not null check (jsonb_typeof(persona) = 'object'),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (business_id, id)
);

-- json, not jsonb, where a value is given back as it came.
create table business_posts (
  id uuid primary key default gen_random_uuid(),
  business_id text not null references businesses,
  participant_id text not null,
  title text not null,
  content text not null,
  network_post json not null,
  network_post_id text not null,
  metadata json,
  created_at timestamptz not null
);
create index business_posts_by_business on business_posts (business_id, created_at desc, id desc);

create table company_network_posts (
  business_id text not null references businesses,
  document_id text not null check (char_length(document_id) between 1 and 200),
  content text not null,
  url text,
  used boolean not null default false,
  exclude boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (business_id, document_id)
);
create index company_network_posts_by_business on company_network_posts (business_id, created_at desc, document_id desc);
create index company_network_posts_unused on company_network_posts (business_id, created_at, document_id)
  where not used and not exclude;

-- The contract's rule of updateUserPersona: these four grow, every other field is replaced.
create function merge_persona(p_before jsonb, p_updates jsonb) returns jsonb language sql immutable parallel safe as $$
  select p_before || p_updates || coalesce(
    (select jsonb_object_agg(key, coalesce(p_before -> key, '[]') || value) from jsonb_each(p_updates)
     where key in ('themes', 'values', 'personality', 'writingTechniques')), '{}')
$$;
