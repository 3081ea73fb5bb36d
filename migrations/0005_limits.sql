-- One row per bucket holds the times of the requests that count, oldest first. Losing it in a crash costs a minute of
-- limits and saves a write-ahead log record per request, so it is unlogged. No secondary index: updates stay in place.
create unlogged table rate_limit_windows (
  bucket text primary key,
  hits timestamptz[] not null,
  is_admitted boolean not null, -- whether the latest request was let in
  updated_at timestamptz not null
) with (fillfactor = 50);

create type rate_limit_place as (is_admitted boolean, capacity int, used int, reset_ms float8);

-- Takes one place in a bucket, or finds it full and adds nothing. `hits` is kept sorted (a call that waited for the row
-- never writes a time before the newest one there), so width_bucket finds what left the window by binary search.
create function take_place(p_bucket text, p_capacity int, p_window_ms int, p_now timestamptz) returns rate_limit_place
language plpgsql as $$
declare
  v_window interval := p_window_ms * interval '1 ms';
  v_place rate_limit_place;
begin
  insert into rate_limit_windows as w (bucket, hits, is_admitted, updated_at)
  values (p_bucket, case when p_capacity > 0 then array[p_now] else '{}' end, p_capacity > 0, p_now)
  on conflict (bucket) do update set
    hits = w.hits[width_bucket(p_now - v_window, w.hits) + 1:]
      || case when cardinality(w.hits) - width_bucket(p_now - v_window, w.hits) < p_capacity
           then array[greatest(p_now, w.hits[cardinality(w.hits)])] else '{}' end,
    is_admitted = cardinality(w.hits) - width_bucket(p_now - v_window, w.hits) < p_capacity,
    updated_at = greatest(p_now, w.updated_at)
  returning w.is_admitted, p_capacity, cardinality(w.hits),
    extract(epoch from coalesce(w.hits[1], p_now) + v_window) * 1000
  into v_place;
  return v_place;
end
$$;

-- Places in buckets that need no identity (functions, media). Answers in the order of the items.
create function take_places(p_buckets text[], p_capacities int[], p_windows_ms int[])
returns table (item int, is_admitted boolean, capacity int, used int, reset_ms float8, asked_ms float8)
language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_item record;
  v_place rate_limit_place;
begin
  asked_ms := extract(epoch from v_now) * 1000;
  for v_item in
    select a.* from unnest(p_buckets, p_capacities, p_windows_ms) with ordinality a (bucket, capacity, window_ms, item)
    order by a.bucket
  loop
    v_place := take_place(v_item.bucket, v_item.capacity, v_item.window_ms, v_now);
    item := v_item.item;
    is_admitted := v_place.is_admitted;
    capacity := v_place.capacity;
    used := v_place.used;
    reset_ms := v_place.reset_ms;
    return next;
  end loop;
end
$$;

-- Who is calling: by the hash of an API key, or by a user id that an ID token has proved. One row per item.
create function identify_many(p_key_ids text[], p_user_ids text[])
returns table (item int, key_state text, user_id text, key_name text, subscription_state text)
language sql stable as $$
  select a.item::int,
         case
           when a.key_id is null then 'none'
           when k.id is null then 'unknown'
           when k.revoked_at is not null then 'revoked'
           else 'valid'
         end,
         coalesce(a.user_id, case when k.revoked_at is null then k.user_id end),
         k.name,
         case
           when s.user_id is null then 'none'
           when s.status in ('trialing', 'active') and s.current_period_end > clock_timestamp() then 'active'
           else 'inactive'
         end
  from unnest(p_key_ids, p_user_ids) with ordinality a (key_id, user_id, item)
  left join api_keys k on k.id = a.key_id
  left join subscriptions s on s.user_id = coalesce(a.user_id, case when k.revoked_at is null then k.user_id end)
$$;

-- The gate in one call: identity, tier, global limit and, for callers who may pass, the endpoint's limit.
-- Tiers come as arrays in the order default, authenticated, premium, admin. Buckets are locked in one order in every
-- call (by caller, the global one before those of endpoints), so two calls never block each other for ever.
create function gate_many(
  p_key_ids text[], p_user_ids text[], p_ips text[], p_endpoints text[], p_endpoint_capacities int[],
  p_endpoint_window_ms int, p_tier_capacities int[], p_tier_windows_ms int[], p_whitelist text[])
returns table (
  item int, key_state text, user_id text, key_name text, subscription_state text, tier int,
  is_admitted boolean, capacity int, used int, reset_ms float8,
  is_endpoint_admitted boolean, endpoint_capacity int, endpoint_used int, endpoint_reset_ms float8, asked_ms float8)
language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_caller record;
  v_global rate_limit_place;
  v_endpoint rate_limit_place;
begin
  asked_ms := extract(epoch from v_now) * 1000;
  for v_caller in
    select c.*, a.endpoint, a.endpoint_capacity, coalesce('user:' || c.user_id, 'ip:' || a.ip) as bucket,
           case
             when c.user_id = any (p_whitelist) or a.ip = any (p_whitelist) then 4
             when c.user_id is null then 1
             when c.subscription_state = 'active' then 3
             else 2
           end as tier
    from identify_many(p_key_ids, p_user_ids) c
    join unnest(p_ips, p_endpoints, p_endpoint_capacities) with ordinality a (ip, endpoint, endpoint_capacity, item)
      on a.item = c.item
    order by bucket, a.endpoint
  loop
    v_global := take_place(
      v_caller.bucket, p_tier_capacities[v_caller.tier], p_tier_windows_ms[v_caller.tier], v_now);
    v_endpoint := null;
    if v_global.is_admitted and v_caller.endpoint is not null
      and v_caller.key_state = 'valid' and v_caller.subscription_state = 'active'
    then
      v_endpoint := take_place(
        v_caller.bucket || ' ' || v_caller.endpoint, v_caller.endpoint_capacity, p_endpoint_window_ms, v_now);
    end if;
    item := v_caller.item;
    key_state := v_caller.key_state;
    user_id := v_caller.user_id;
    key_name := v_caller.key_name;
    subscription_state := v_caller.subscription_state;
    tier := v_caller.tier;
    is_admitted := v_global.is_admitted;
    capacity := v_global.capacity;
    used := v_global.used;
    reset_ms := v_global.reset_ms;
    is_endpoint_admitted := v_endpoint.is_admitted;
    endpoint_capacity := v_endpoint.capacity;
    endpoint_used := v_endpoint.used;
    endpoint_reset_ms := v_endpoint.reset_ms;
    return next;
  end loop;
end
$$;
