-- Everything that the payment provider told us, once per event id. What is true of a subscription is read from all of
-- its events in their own order, so the order in which they arrive changes nothing.
create table payment_events (
  id text primary key,
  type text not null,
  created_at timestamptz not null,
  subscription_id text,
  -- Not jsonb, which takes less than the provider may say, and nothing inside is asked for.
  payload json not null,
  previous json not null,
  received_at timestamptz not null default clock_timestamp()
);
create index payment_events_by_subscription on payment_events (subscription_id) where subscription_id is not null;

create table billing_customers (
  user_id text primary key,
  customer_id text not null unique,
  created_at timestamptz not null default now()
);

-- A checkout session is finished once.
create table checkout_sessions (
  id text primary key,
  user_id text not null,
  subscription_id text not null,
  processed_at timestamptz not null default clock_timestamp()
);

alter table subscriptions add column started_at timestamptz;

-- Every subscription that a user ever had. The one that counts is in `subscriptions`: of those that run the youngest,
-- else the youngest that ended.
create table subscription_states (like subscriptions including defaults);
alter table subscription_states add primary key (subscription_id);
create index subscription_states_by_user on subscription_states (user_id);

-- What a user should know. `key` says what it is about, so that nobody is told twice.
create table notices (
  id bigint generated always as identity primary key,
  user_id text not null,
  kind text not null,
  key text not null unique,
  details jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  read_at timestamptz
);
create index notices_by_user on notices (user_id, id desc);
