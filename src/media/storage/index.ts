// Where the bytes of media are: files of this machine or objects of S3, behind one interface. What they are and whose
// is not known here: see the records of `media`.
export { createFileStorage } from "./files.ts";
export { createS3Storage } from "./s3.ts";
export { ObjectMissing } from "./storage.ts";
export type { ByteRange, Place, Storage } from "./storage.ts";
