import { fork } from "node:child_process";
import type { StdioOptions } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "./app.ts";

const bucket = "media";
const uploads = "._S3rver_uploads";

export interface TestS3 {
  /** For an app that stores its media here. */
  settings: Settings;
  /** What `createS3Storage` takes. */
  options: {
    endpoint: string;
    region: string;
    bucket: string;
    accessKeyId: string;
    secretAccessKey: string;
    forcePathStyle: boolean;
  };
  /** Parts that have arrived of uploads that are neither complete nor aborted. */
  parts(): Promise<string[]>;
  /** From here on the server answers 500 to every part but the first. */
  refuseParts(): Promise<void>;
  /** As if the machine had lost its power. */
  kill(): Promise<void>;
  /** After a kill: another server with the same objects. It is to be stopped too. */
  revive(): Promise<TestS3>;
  stop(): Promise<void>;
}

/** An S3 server of the test's own, as a process, with one bucket. */
export async function startS3(): Promise<TestS3> {
  return await startServer(await mkdtemp(join(tmpdir(), "herald-s3-")));
}

async function startServer(dir: string): Promise<TestS3> {
  const stdio: StdioOptions = ["ignore", "ignore", "inherit", "ipc"];
  const child = fork(import.meta.filename, [dir], { execArgv: [], stdio });
  const exited = once(child, "exit");
  const [port] = await Promise.race([once(child, "message"), exited.then(() => [])]);
  if (typeof port !== "number") throw new Error("the S3 server ended before it listened");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  const options = {
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    bucket,
    accessKeyId: "S3RVER",
    secretAccessKey: "S3RVER",
    forcePathStyle: true,
  };
  return {
    options,
    settings: {
      S3_ENDPOINT: options.endpoint,
      S3_REGION: options.region,
      MEDIA_BUCKET: options.bucket,
      S3_ACCESS_KEY_ID: options.accessKeyId,
      S3_SECRET_ACCESS_KEY: options.secretAccessKey,
    },
    async parts() {
      const names = await readdir(join(dir, bucket), { recursive: true });
      return names.filter((name) => name.startsWith(uploads) && /\/\d+$/.test(name));
    },
    async refuseParts() {
      child.send("refuse parts");
      await once(child, "message");
    },
    kill,
    revive: async () => await startServer(dir),
    async stop() {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

interface Context {
  method: string;
  query: Record<string, string>;
  status: number;
}

interface S3rver {
  middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[];
  store: {
    getObject(bucket: string, key: string, range: { end?: unknown }): Promise<unknown>;
    putPart(bucket: string, uploadId: string, part: string, content: unknown): Promise<unknown>;
  };
  run(): Promise<{ port: number }>;
}

/** What the server can't do by itself: `bytes=0-0`, which it takes for everything, and the abort of an upload. */
function repair({ store, middleware }: S3rver, dir: string): void {
  const { getObject } = store;
  store.getObject = async (bucket, key, range) =>
    await getObject.call(store, bucket, key, range.end === 0 ? { ...range, end: "0" } : range);
  middleware.unshift(async (context, next) => {
    const { uploadId } = context.query;
    if (context.method !== "DELETE" || uploadId === undefined) return await next();
    await rm(join(dir, bucket, uploads, uploadId), { recursive: true });
    context.status = 204;
  });
}

async function serve(dir: string): Promise<void> {
  const Server = createRequire(import.meta.url)("@20minutes/s3rver") as new (
    options: object,
  ) => S3rver;
  const configureBuckets = [{ name: bucket }];
  const server = new Server({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: dir,
    configureBuckets,
  });
  repair(server, dir);
  const { putPart } = server.store;
  process.on("message", () => {
    server.store.putPart = async (bucket, uploadId, part, content) => {
      if (part !== "1") throw new Error("told to refuse parts");
      return await putPart.call(server.store, bucket, uploadId, part, content);
    };
    process.send?.("refusing");
  });
  // Whoever started it is gone.
  process.on("disconnect", () => process.exit());
  const { port } = await server.run();
  process.send?.(port);
}

if (import.meta.main) await serve(process.argv[2] ?? "");
