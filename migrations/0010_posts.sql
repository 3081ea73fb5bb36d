-- What a user asked to be published. Ids are time-ordered (UUID version 7), so they are the order of the list too.
create table submissions (
  id uuid primary key,
  user_id text not null,
  key_id text,
  status text not null default 'queued' check (status in ('queued', 'orchestrating', 'dispatched', 'canceled')),
  content jsonb not null,
  targets jsonb not null,
  scheduled_time timestamptz,
  due_at timestamptz not null,
  enable_repurposing boolean not null default false,
  trial_reel boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index submissions_by_user on submissions (user_id, id desc);
create index submissions_waiting on submissions (user_id, due_at) where status = 'queued';

-- One per target. `fence` grows with every worker that takes the run up: one that was overtaken can't write any more.
create table runs (
  id uuid primary key,
  submission_id uuid not null references submissions,
  user_id text not null,
  target_id text not null,
  platform text not null,
  account_id text not null,
  status text not null default 'queued' check (status in ('queued', 'processing', 'succeeded', 'failed')),
  fence bigint not null default 0,
  remote_id text,
  url text,
  error jsonb,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  unique (submission_id, target_id),
  check ((status = 'failed') = (error is not null))
);
create index runs_waiting on runs (user_id) where status = 'queued';
-- A published post belongs to one run: what answers to two of them was published once.
create unique index runs_by_remote on runs (platform, account_id, remote_id) where remote_id is not null;

-- Written before the irreversible call. Without an outcome it means: sent, and nobody heard the answer.
create table attempts (
  run_id uuid not null references runs,
  number int not null,
  body_hash text not null,
  sent_at timestamptz not null default clock_timestamp(),
  outcome text check (outcome in ('published', 'duplicate', 'refused', 'not_sent', 'unknown')),
  upstream_status int,
  remote_id text,
  finished_at timestamptz,
  primary key (run_id, number)
);

-- An account that the platform asked to wait. Its runs wait; those of others do not.
create table account_pauses (
  user_id text not null,
  platform text not null,
  account_id text not null,
  until timestamptz not null,
  primary key (user_id, platform, account_id)
);

-- How far down its user's own line a job goes. Who queues 10,000 posts lines up behind themselves: their 1,000th job
-- has a lower priority than anyone's first. Counted up to 1,000, in steps of 20.
create function lane_of(p_waiting bigint) returns smallint language sql immutable parallel safe as $$
  select (least(p_waiting, 1000) / 20)::smallint
$$;

-- Accepts many submissions at once: the record of the idempotency key, the submission and its job, or nothing, each on
-- its own. Keys are claimed in one order, so two calls never block each other for ever. An item whose key was used
-- before is answered with what is stored; nothing else is written for it.
create function submit_many(
  p_ids uuid[], p_user_ids text[], p_key_ids text[], p_endpoint text, p_key_hashes text[], p_body_hashes text[],
  p_answers text[], p_contents jsonb[], p_targets jsonb[], p_scheduled_times timestamptz[], p_flags int[])
returns table (item int, is_new boolean, body_hash text, answer text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_item record;
  v_waiting bigint;
  v_due timestamptz;
  v_job_ids uuid[] := '{}';
  v_job_times timestamptz[] := '{}';
  v_job_lanes int[] := '{}';
begin
  for v_item in
    select a.* from unnest(p_ids, p_user_ids, p_key_ids, p_key_hashes, p_body_hashes, p_answers, p_contents, p_targets,
        p_scheduled_times, p_flags)
      with ordinality a (id, user_id, key_id, key_hash, body_hash, answer, content, targets, scheduled_time, flags, item)
    order by a.user_id, a.key_hash, a.item
  loop
    item := v_item.item;
    insert into idempotency_records (user_id, endpoint, key_hash, body_hash, status, answer)
    values (v_item.user_id, p_endpoint, v_item.key_hash, v_item.body_hash, 201, v_item.answer)
    on conflict do nothing;
    is_new := found;
    if is_new then
      body_hash := v_item.body_hash;
      answer := v_item.answer;
      v_due := coalesce(v_item.scheduled_time, clock_timestamp());
      select count(*) into v_waiting from (
        select from submissions where user_id = v_item.user_id and status = 'queued' and due_at <= v_due limit 1000) w;
      insert into submissions (id, user_id, key_id, content, targets, scheduled_time, due_at, enable_repurposing, trial_reel)
      values (v_item.id, v_item.user_id, v_item.key_id, v_item.content, v_item.targets, v_item.scheduled_time, v_due,
        (v_item.flags & 1) <> 0, (v_item.flags & 2) <> 0);
      v_job_ids := v_job_ids || v_item.id;
      v_job_times := v_job_times || v_due;
      v_job_lanes := v_job_lanes || lane_of(v_waiting)::int;
    else
      select r.body_hash, r.answer into body_hash, answer from idempotency_records r
      where r.user_id = v_item.user_id and r.endpoint = p_endpoint and r.key_hash = v_item.key_hash;
    end if;
    return next;
  end loop;
  perform graphile_worker.add_jobs(array_agg(('posts.orchestrate', json_build_object('submissionId', j.id), null,
    j.run_at, null, 'post:' || j.id, j.lane, null)::graphile_worker.job_spec))
  from unnest(v_job_ids, v_job_times, v_job_lanes) j (id, run_at, lane)
  having count(*) > 0;
end
$$;

-- Makes the runs of a submission whose time has come, and their jobs. Doing it twice changes nothing. An account that
-- was disconnected since fails its own run; so does all of a submission that is more than a day late.
create function orchestrate(p_submission_id uuid) returns void language plpgsql as $$
declare
  v_submission submissions;
  v_waiting bigint;
  v_ready uuid[];
begin
  select * into v_submission from submissions where id = p_submission_id and status = 'queued' for update;
  if not found then
    return;
  end if;
  select count(*) into v_waiting from (
    select from runs where user_id = v_submission.user_id and status = 'queued' limit 1000) w;
  with made as (
    insert into runs (id, submission_id, user_id, target_id, platform, account_id, status, error, finished_at)
    select gen_random_uuid(), v_submission.id, v_submission.user_id, t."targetId", t.platform, t."accountId",
           case when f.code is null then 'queued' else 'failed' end,
           case when f.code is not null then jsonb_build_object('code', f.code, 'message', f.message, 'retryable', f.is_retryable,
             'attempts', 0) end,
           case when f.code is not null then clock_timestamp() end
    from jsonb_to_recordset(v_submission.targets) t ("targetId" text, platform text, "accountId" text)
    left join connected_accounts a
      on a.user_id = v_submission.user_id and a.platform = t.platform and a.account_id = t."accountId"
    cross join lateral (
      select case when v_submission.due_at < clock_timestamp() - interval '24 hours' then 'too_late'
                  when a.account_id is null then 'account_disconnected' end as code,
             case when v_submission.due_at < clock_timestamp() - interval '24 hours'
                  then 'The service was down at the scheduled time and came back more than 24 hours later'
                  else 'The account was disconnected before the post was due' end as message,
             v_submission.due_at < clock_timestamp() - interval '24 hours' as is_retryable) f
    on conflict (submission_id, target_id) do nothing
    returning id, status
  )
  select array_agg(id) filter (where status = 'queued') into v_ready from made;
  if v_ready is not null then
    perform graphile_worker.add_jobs(array_agg(('posts.publish', json_build_object('runId', id), null, null, null,
      'run:' || id, lane_of(v_waiting), null)::graphile_worker.job_spec))
    from unnest(v_ready) id;
  end if;
  update submissions set status = 'dispatched', updated_at = clock_timestamp() where id = v_submission.id;
end
$$;
