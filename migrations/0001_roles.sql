-- The service runs as herald_service: it reads and writes rows, and can change neither the schema nor what is
-- append-only. herald_readonly is for people and dashboards. Neither can log in: a login role is a member.
do $$
declare
  role_name text;
begin
  foreach role_name in array array['herald_service', 'herald_readonly'] loop
    begin
      execute format('create role %I nologin', role_name);
    exception when duplicate_object or unique_violation then
      null; -- roles belong to the whole server: another database of it made this one
    end;
  end loop;
  if not pg_has_role(current_user, 'herald_service', 'member') then
    execute format('grant herald_service to %I', current_user);
  end if;
end
$$;

grant usage on schema public to herald_service, herald_readonly;
alter default privileges in schema public grant select, insert, update, delete on tables to herald_service;
alter default privileges in schema public grant usage on sequences to herald_service;
alter default privileges in schema public grant select on tables to herald_readonly;
grant select on schema_migrations to herald_service, herald_readonly;

-- Two walls around rows that must never change: the service has no right to, and a trigger refuses it to everyone.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;

create function make_append_only(target regclass) returns void language plpgsql as $$
begin
  execute format('revoke update, delete, truncate on %s from herald_service', target);
  execute format(
    'create trigger append_only before update or delete or truncate on %s for each statement execute function refuse_change()',
    target);
end
$$;
revoke execute on function make_append_only(regclass) from public;
