// Files of users: fetched from where they say or sent by them, stored as local files or on S3, served to everybody who
// knows the id. It knows nothing of posts; what a post needs is told by the database.
export { directUploadRoute } from "./direct-upload.ts";
export { ingest } from "./ingest.ts";
export type { IngestDeps } from "./ingest.ts";
export { mediaProxy } from "./proxy.ts";
export { findOwnMedia } from "./queries.ts";
export type { MediaRecord } from "./queries.ts";
export { receive } from "./receive.ts";
export { cleanUpMediaTask, removeTask } from "./remove.ts";
export { mediaAddress, mediaRoutes } from "./routes.ts";
export type { MediaDeps } from "./routes.ts";
export { createSmallFiles } from "./small-files.ts";
export type { SmallFiles } from "./small-files.ts";
export { ObjectMissing, createFileStorage, createS3Storage } from "./storage/index.ts";
export type { Storage } from "./storage/index.ts";
