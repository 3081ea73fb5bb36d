create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  subject text,
  request_id text,
  ip text,
  details jsonb not null default '{}'
);
create index audit_log_by_actor on audit_log (actor, id desc);
select make_append_only('audit_log');
