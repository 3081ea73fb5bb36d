// What the tests of this room share: a migrated database, an app with the identity routes, a browser's cookies.
import { randomBytes } from "node:crypto";
import { after } from "node:test";
import { fastify } from "fastify";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { Client } from "pg";
import { pino } from "pino";
import { createPool, isUnavailable, migrate, serviceRole } from "../db/index.ts";
import type { Pool } from "../db/index.ts";
import { createIdentity } from "./identity.ts";
import { identityRoutes } from "./identity-routes.ts";
import type { Identity } from "./identity.ts";

export const quiet = pino({ level: "silent" });
export const secret = randomBytes(32).toString("base64url");
export const webUrl = "http://localhost:3000";

async function asAdmin(statement: string): Promise<void> {
  const client = new Client({ connectionString: process.env["TEST_DATABASE_URL"] });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

export interface TestDatabase {
  url: string;
  /** As the service: what the code under test uses. */
  db: Pool;
  /** As the owner of the schema. */
  owner: Pool;
}

/** A database of the test file's own, dropped when its tests are over. */
export async function testDatabase(size = 10): Promise<TestDatabase> {
  const serverUrl = process.env["TEST_DATABASE_URL"];
  if (!serverUrl) throw new Error("TEST_DATABASE_URL is not set");
  const name = `identity_${randomBytes(6).toString("hex")}`;
  const url = serverUrl.replace(/\/[^/?]*(?=\?|$)/, `/${name}`);
  await asAdmin(`create database ${name}`);
  await migrate(url, quiet);
  const db = createPool({ url, name: "test", size, role: serviceRole }, quiet);
  const owner = createPool({ url, name: "test owner", size: 2 }, quiet);
  after(async () => {
    await Promise.all([db.end(), owner.end()]);
    await asAdmin(`drop database ${name} with (force)`);
  });
  return { url, db, owner };
}

export function testIdentity(db: Pool, url = webUrl): Identity {
  return createIdentity({ db, log: quiet, secret, webUrl: url });
}

export async function testApp(
  identity: Identity,
  guard: () => Promise<void> = () => Promise.resolve(),
): Promise<FastifyInstance> {
  const app = fastify();
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  app.setErrorHandler((error, _request, reply) =>
    reply.code(isUnavailable(error) ? 503 : 500).send({ error: { message: "hidden" } }),
  );
  await app.register(identityRoutes({ identity, guard }), { prefix: "/api/auth" });
  after(() => app.close());
  return app;
}

export interface Person {
  email: string;
  password: string;
  name: string;
}

let people = 0;
export function somebody(): Person {
  people += 1;
  return {
    email: `person${people}@example.com`,
    password: "correct horse battery",
    name: `Person ${people}`,
  };
}

export interface SetCookie {
  value: string;
  attributes: string[];
}

export function cookieSetBy(
  answer: LightMyRequestResponse,
  name = "__session",
): SetCookie | undefined {
  const lines = [answer.headers["set-cookie"] ?? []].flat();
  const [pair, ...attributes] =
    lines.find((line) => line.startsWith(`${name}=`))?.split("; ") ?? [];
  return pair === undefined ? undefined : { value: pair.slice(name.length + 1), attributes };
}

/** Calls an identity route as the web app's page would, with the session's cookie if one is given. */
export function callAs(app: FastifyInstance, origin = webUrl) {
  return async (path: string, body?: object, session?: string): Promise<LightMyRequestResponse> =>
    await app.inject({
      method: body ? "POST" : "GET",
      url: `/api/auth${path}`,
      headers: { origin, ...(session === undefined ? {} : { cookie: `__session=${session}` }) },
      ...(body ? { payload: body } : {}),
    });
}

/** Signs somebody up and returns the cookie's value. */
export async function sessionOf(app: FastifyInstance, person: Person): Promise<string> {
  const answer = await callAs(app)("/sign-up/email", person);
  const session = cookieSetBy(answer)?.value;
  if (session === undefined)
    throw new Error(`sign-up answered ${answer.statusCode}: ${answer.body}`);
  return session;
}
