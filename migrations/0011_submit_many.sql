-- As before, with less work per submission: only the keys are claimed one by one, in one order; what is new is stored
-- by one statement, and so are its jobs. (bench/RESULTS.md, posts)
create or replace function submit_many(
  p_ids uuid[], p_user_ids text[], p_key_ids text[], p_endpoint text, p_key_hashes text[], p_body_hashes text[],
  p_answers text[], p_contents jsonb[], p_targets jsonb[], p_scheduled_times timestamptz[], p_flags int[])
returns table (item int, is_new boolean, body_hash text, answer text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_new int[] := '{}';
  v_jobs bigint;
begin
  for item in
    select a.item from unnest(p_user_ids, p_key_hashes) with ordinality a (user_id, key_hash, item)
    order by a.user_id, a.key_hash, a.item
  loop
    insert into idempotency_records (user_id, endpoint, key_hash, body_hash, status, answer)
    values (p_user_ids[item], p_endpoint, p_key_hashes[item], p_body_hashes[item], 201, p_answers[item])
    on conflict do nothing;
    is_new := found;
    if is_new then
      v_new := v_new || item;
      body_hash := p_body_hashes[item];
      answer := p_answers[item];
    else
      select r.body_hash, r.answer into body_hash, answer from idempotency_records r
      where r.user_id = p_user_ids[item] and r.endpoint = p_endpoint and r.key_hash = p_key_hashes[item];
    end if;
    return next;
  end loop;
  with accepted as (
    insert into submissions (id, user_id, key_id, content, targets, scheduled_time, due_at, enable_repurposing, trial_reel)
    select p_ids[n], p_user_ids[n], p_key_ids[n], p_contents[n], p_targets[n], p_scheduled_times[n],
      coalesce(p_scheduled_times[n], clock_timestamp()), (p_flags[n] & 1) <> 0, (p_flags[n] & 2) <> 0
    from unnest(v_new) n
    returning id, user_id, due_at
  ), lined_up as (
    -- Behind what is stored, and behind those of the same user that came with it.
    select a.id, a.due_at, lane_of(row_number() over (partition by a.user_id order by a.due_at) - 1 + (
      select count(*) from (
        select from submissions s
        where s.user_id = a.user_id and s.status = 'queued' and s.due_at <= a.due_at limit 1000) w)) as lane
    from accepted a
  )
  select count(*) into v_jobs from (
    select graphile_worker.add_jobs(array_agg(('posts.orchestrate', json_build_object('submissionId', id), null, due_at,
      null, 'post:' || id, lane, null)::graphile_worker.job_spec))
    from lined_up having count(*) > 0) j;
end
$$;
