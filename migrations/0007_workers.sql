-- The worker processes that take jobs. A worker takes an id, holds the advisory lock of that id for as long as it
-- lives, and only then writes its row: so a row whose lock is free belongs to a dead worker, and its jobs are freed.
create sequence worker_ids as int;

-- running: the jobs whose code has begun. It is written before the code runs, so the jobs of a dead worker can be told
-- apart: those that may have killed it count an attempt, those that merely waited in its memory do not.
create table workers (
  id int primary key,
  host text not null,
  pid int not null,
  running bigint[] not null default '{}',
  started_at timestamptz not null default now(),
  last_progress_at timestamptz
) with (fillfactor = 50);
