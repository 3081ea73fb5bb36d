-- Which of a user's files is the picture of an input, so that the same one is not drawn twice. Goes with the file.
create table template_pictures (
  user_id text not null,
  input_hash text not null,
  media_id text not null references media on delete cascade,
  primary key (user_id, input_hash)
);
create index template_pictures_by_media on template_pictures (media_id);
