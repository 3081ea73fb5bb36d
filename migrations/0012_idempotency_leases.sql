-- Work that takes minutes can't hold a transaction for as long. Who carries out a key holds a lease, which it renews; a
-- lease that ran out belongs to a process that died, and the next repeat takes the key over.
alter table idempotency_records
  add column holder uuid,
  add column leased_until timestamptz;
