// The database: pool, transactions, batching, migrations, and the embedded server for when none is configured.
// It knows no table but its own list of migrations; every room keeps the SQL of its own tables.
export { batched } from "./batch.ts";
export type { BatchLimits } from "./batch.ts";
export {
  isForeignKeyViolation,
  isLockTimeout,
  isUnavailable,
  isUniqueViolation,
} from "./failures.ts";
export { startEmbeddedPostgres } from "./embedded.ts";
export { insist } from "./insist.ts";
export { expectedVersion, migrate } from "./migrate.ts";
export { createPool, serviceRole } from "./pool.ts";
export type { Db, Pool, Transaction } from "./pool.ts";
export { createServiceLogin } from "./service-login.ts";
export { inTransaction } from "./transaction.ts";
