-- The ledger is the truth; a balance is its sum, kept beside it so that it can be locked. Whoever changes either goes
-- through the functions below, which lock the balance row before anything else: one order, so nobody waits in a circle.
create table credit_balances (
  user_id text primary key,
  balance int not null default 0 check (balance >= 0),
  -- The newest period that was granted. Its end is null once what was left of it has expired.
  subscription_id text collate "C",
  period_start timestamptz,
  period_end timestamptz,
  allowance int not null default 0 check (allowance >= 0),
  updated_at timestamptz not null default clock_timestamp(),
  check ((subscription_id is null) = (period_start is null)),
  check (period_end > period_start)
) with (fillfactor = 70);
-- The balance is in no index, so that moving it stays an update in place.
create index credit_balances_by_end on credit_balances (period_end) where period_end is not null;

create table credit_entries (
  id bigint generated always as identity primary key,
  user_id text not null references credit_balances,
  kind text not null check (kind in ('grant', 'debit', 'refund', 'expiry', 'adjustment')),
  amount int not null check (case when kind in ('grant', 'refund') then amount > 0
                                  when kind in ('debit', 'expiry') then amount < 0 else amount <> 0 end),
  balance_after int not null check (balance_after >= 0),
  idempotency_key text not null unique,
  reference jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp()
);
create index credit_entries_by_user on credit_entries (user_id, id desc);
select make_append_only('credit_entries');

-- A debit that is not final yet. One that nobody keeps or releases in time is given back: its worker died.
create table credit_holds (
  key text primary key,
  user_id text not null,
  amount int not null,
  entry_id bigint not null references credit_entries,
  state text not null default 'open' check (state in ('open', 'kept', 'released')),
  expires_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp()
);
create index credit_holds_open on credit_holds (expires_at) where state = 'open';

create type credit_move as (entry_id bigint, balance int, is_new boolean, is_low boolean);
create type credit_hold as (move credit_move, state text, expires_at timestamptz);

create function lock_credits(p_user text) returns credit_balances language plpgsql as $$
declare
  v_held credit_balances;
begin
  select * into v_held from credit_balances where user_id = p_user for update;
  if not found then
    insert into credit_balances (user_id) values (p_user) on conflict do nothing;
    select * into v_held from credit_balances where user_id = p_user for update;
  end if;
  return v_held;
end
$$;

-- The only way into the ledger. A key that was used before is answered with what it did then. Too few credits: no entry,
-- and its id is null (an everyday answer; as an error it would cost the caller's transaction, and pools the connection).
-- `is_low`: this very entry brought the balance below a tenth of the period's allowance.
create function move_credits(p_user text, p_kind text, p_amount int, p_key text, p_reference jsonb) returns credit_move
language plpgsql as $$
declare
  v_held credit_balances := lock_credits(p_user);
  v_entry credit_entries;
begin
  select * into v_entry from credit_entries where idempotency_key = p_key;
  if found then
    if (v_entry.user_id, v_entry.kind, v_entry.amount) is distinct from (p_user, p_kind, p_amount) then
      raise exception 'credit key % was used for something else', p_key using errcode = 'HC409';
    end if;
    return (v_entry.id, v_entry.balance_after, false, false)::credit_move;
  end if;
  if v_held.balance + p_amount < 0 then
    return (null, v_held.balance, false, false)::credit_move;
  end if;
  insert into credit_entries (user_id, kind, amount, balance_after, idempotency_key, reference)
  values (p_user, p_kind, p_amount, v_held.balance + p_amount, p_key, p_reference)
  returning * into v_entry;
  update credit_balances set balance = v_entry.balance_after, updated_at = v_entry.created_at where user_id = p_user;
  return (v_entry.id, v_entry.balance_after, true,
    v_held.balance * 10::bigint >= v_held.allowance and v_entry.balance_after * 10::bigint < v_held.allowance)::credit_move;
end
$$;

create function credit_key(p_kind text, p_subscription text, p_period_start timestamptz) returns text
language sql immutable as $$
  select format('%s:%s:%s', p_kind, p_subscription, extract(epoch from p_period_start)::bigint)
$$;

-- What an entry of a period refers to. Times as the API writes them, whatever the session's time zone.
create function credit_period(p_subscription text, p_start timestamptz, p_end timestamptz default null) returns jsonb
language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object('subscriptionId', p_subscription,
    'periodStart', to_char(p_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'periodEnd', to_char(p_end at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
$$;

-- What is left of a period ends with it. What was given back after it had ended is left once more, hence the second
-- form of the key. Credits from before the first period belong to none, and stay.
create function expire_credits(p_held credit_balances) returns void language plpgsql as $$
declare
  v_key text := credit_key('expiry', p_held.subscription_id, p_held.period_start);
begin
  if p_held.balance = 0 or p_held.subscription_id is null then
    return;
  end if;
  if exists (select from credit_entries where idempotency_key = v_key) then
    v_key := v_key || ':' || (select max(id) from credit_entries where user_id = p_held.user_id);
  end if;
  perform move_credits(p_held.user_id, 'expiry', -p_held.balance, v_key,
    credit_period(p_held.subscription_id, p_held.period_start));
end
$$;

-- One grant per subscription and period. Events come in any order, and the same entries result: a newer period ends the
-- one that is held; an older one is granted and has ended at once. True: it was granted by this call.
create function grant_period(p_user text, p_subscription text, p_period_start timestamptz, p_period_end timestamptz,
  p_credits int, p_rolls_over boolean) returns boolean
language plpgsql as $$
declare
  v_held credit_balances := lock_credits(p_user);
  v_is_newer boolean := v_held.subscription_id is null
    or (p_period_start, p_subscription collate "C") > (v_held.period_start, v_held.subscription_id);
  v_key text := credit_key('grant', p_subscription, p_period_start);
  v_owner text;
begin
  select user_id into v_owner from credit_entries where idempotency_key = v_key;
  if v_owner <> p_user then
    raise exception 'credit key % was used for something else', v_key using errcode = 'HC409';
  end if;
  if v_owner is not null or (v_held.period_start, v_held.subscription_id) = (p_period_start, p_subscription) then
    return false;
  end if;
  if v_is_newer and not p_rolls_over then
    perform expire_credits(v_held);
  end if;
  if p_credits <> 0 then
    perform move_credits(p_user, 'grant', p_credits, v_key,
      credit_period(p_subscription, p_period_start, p_period_end));
  end if;
  if v_is_newer then
    update credit_balances set subscription_id = p_subscription, period_start = p_period_start, period_end = p_period_end,
      allowance = p_credits where user_id = p_user;
  elsif p_credits <> 0 and not p_rolls_over then
    perform move_credits(p_user, 'expiry', -p_credits, credit_key('expiry', p_subscription, p_period_start),
      credit_period(p_subscription, p_period_start));
  end if;
  return true;
end
$$;

-- Periods that ended and that nobody renewed. Rows that somebody works on are left for the next run, so that no one
-- ever waits here.
create function expire_ended(p_limit int) returns int language plpgsql as $$
declare
  v_held credit_balances;
  v_count int := 0;
begin
  for v_held in
    select * from credit_balances where period_end <= now() order by period_end limit p_limit for update skip locked
  loop
    perform expire_credits(v_held);
    update credit_balances set period_end = null where user_id = v_held.user_id;
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

-- Gives a debit back, once. If it was an open hold, the hold is released.
create function refund_credits(p_key text) returns credit_move language plpgsql as $$
declare
  v_debit credit_entries;
  v_move credit_move;
begin
  select * into v_debit from credit_entries where idempotency_key = p_key and kind = 'debit';
  if not found then
    raise exception 'there is no debit %', p_key using errcode = 'HC404';
  end if;
  v_move := move_credits(v_debit.user_id, 'refund', -v_debit.amount, 'refund:' || p_key,
    v_debit.reference || jsonb_build_object('refundOf', v_debit.id::text));
  update credit_holds set state = 'released' where key = p_key and state = 'open';
  return v_move;
end
$$;

create function hold_credits(p_user text, p_amount int, p_key text, p_reference jsonb, p_expires_seconds float8)
returns credit_hold language plpgsql as $$
declare
  v_move credit_move := move_credits(p_user, 'debit', -p_amount, p_key, p_reference);
  v_hold credit_holds;
begin
  if v_move.is_new then
    insert into credit_holds (key, user_id, amount, entry_id, expires_at)
    values (p_key, p_user, p_amount, v_move.entry_id, clock_timestamp() + p_expires_seconds * interval '1 second')
    returning * into v_hold;
  elsif v_move.entry_id is not null then
    select * into v_hold from credit_holds where key = p_key;
    if not found then
      raise exception 'the debit % is not a hold', p_key using errcode = 'HC409';
    end if;
  end if;
  return (v_move, v_hold.state, v_hold.expires_at)::credit_hold;
end
$$;

-- Makes an open hold final, by keeping or by releasing it. Answers with the state it is in then.
create function settle_hold(p_key text, p_state text) returns text language plpgsql as $$
declare
  v_hold credit_holds;
begin
  perform lock_credits(user_id) from credit_holds where key = p_key;
  select * into v_hold from credit_holds where key = p_key;
  if not found then
    raise exception 'there is no hold %', p_key using errcode = 'HC404';
  end if;
  if v_hold.state <> 'open' then
    return v_hold.state;
  end if;
  if p_state = 'released' then
    perform refund_credits(p_key);
  else
    update credit_holds set state = 'kept' where key = p_key;
  end if;
  return p_state;
end
$$;

create function release_expired_holds(p_limit int) returns int language plpgsql as $$
declare
  v_key text;
  v_count int := 0;
begin
  for v_key in
    select h.key from credit_holds h join credit_balances b using (user_id)
    where h.state = 'open' and h.expires_at <= now() order by h.expires_at limit p_limit for update of b skip locked
  loop
    if settle_hold(v_key, 'released') = 'released' then
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end
$$;
