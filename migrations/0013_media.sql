-- Files of users. A row without stored_at is being stored: whoever died over it left an object to clean up.
-- What is served needs the object and its token: the storage opens nothing without.
create table media (
  id text primary key check (id ~ '^[a-z0-9]{26}$'),
  user_id text not null,
  key_hash text,
  url text,
  content_type text not null,
  extension text not null,
  object_path text not null,
  download_token text not null,
  size_bytes bigint not null,
  checksum text not null,
  width int,
  height int,
  duration_ms bigint,
  created_at timestamptz not null default clock_timestamp(),
  stored_at timestamptz
);
create index media_by_user on media (user_id, created_at desc, id desc) where stored_at is not null;
create index media_unfinished on media (created_at) where stored_at is null;

-- A post that waits keeps its media: the reference makes the database refuse to delete them.
create table media_needs (
  media_id text not null references media,
  submission_id uuid not null,
  primary key (media_id, submission_id)
);

create function need_media() returns trigger language plpgsql as $$
begin
  insert into media_needs (media_id, submission_id)
  select distinct id, new.id from jsonb_array_elements_text(new.content->'mediaIds') id;
  return null;
end
$$;
create trigger need_media after insert on submissions for each row
  when (jsonb_typeof(new.content->'mediaIds') = 'array') execute function need_media();

-- Addresses to which a client may send the bytes itself, once.
create table media_uploads (
  token_hash text primary key,
  user_id text not null,
  key_hash text,
  expires_at timestamptz not null,
  media_id text references media on delete set null
);
create index media_uploads_by_age on media_uploads using brin (expires_at);
