import { join } from "node:path";
import { fastify } from "fastify";
import { Clock } from "./clock.ts";
import { controlRoutes } from "./control.ts";
import { Faults } from "./faults.ts";
import { Journal } from "./journal.ts";
import { frameOf } from "./service.ts";
import type { Service } from "./service.ts";
import { services as allServices } from "./services.ts";

export interface SandboxOptions {
  /** 0: any free port. */
  port: number;
  host?: string;
  dataDir: string;
  services?: readonly Service[];
}

export interface Sandbox {
  url: string;
  journal: Journal;
  close(): Promise<void>;
}

/** The outside world on loopback: every service under its own path, one journal, one set of faults, one clock. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port, host = "127.0.0.1", dataDir, services = allServices } = options;
  const journal = await Journal.open(join(dataDir, "journal.jsonl"));
  const faults = new Faults();
  const world = { journal, faults, clock: new Clock() };
  const app = fastify({
    bodyLimit: 512 * 1024 * 1024,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 500 },
  });

  // Platforms disagree on what a body is, and signatures cover exact bytes: services get the bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  const mounted = services.map((service) => ({ service, operations: new Set<string>() }));
  for (const { service, operations } of mounted) {
    void app.register(
      (scope, _options, done) => {
        const frame = frameOf(service, scope, world, operations);
        service.routes(frame);
        const missing = { accepted: false, status: 404, body: { error: "not found" } };
        scope.setNotFoundHandler(frame.operation(`${service.name}.unknown`, () => missing));
        done();
      },
      { prefix: service.basePath },
    );
  }
  controlRoutes(app, world, mounted);

  const close = async (): Promise<void> => {
    faults.end();
    await app.close();
    await journal.close();
  };
  try {
    return { url: await app.listen({ port, host }), journal, close };
  } catch (error) {
    await close();
    throw error;
  }
}
