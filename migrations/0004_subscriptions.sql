create table subscriptions (
  user_id text primary key,
  customer_id text not null,
  subscription_id text not null unique,
  status text not null check (status in ('trialing', 'active', 'canceled', 'past_due', 'unpaid')),
  plan_id text not null check (plan_id in ('starter', 'pro')),
  price_id text not null,
  current_period_start timestamptz not null,
  current_period_end timestamptz not null,
  trial_end timestamptz,
  cancel_at_period_end boolean not null default false,
  pending_plan jsonb,
  updated_at timestamptz not null default now()
);
