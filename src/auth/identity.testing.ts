// What the tests of this room share: an app with the identity routes, and a browser's cookies.
import { randomBytes } from "node:crypto";
import { after } from "node:test";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { testSettings } from "../../test/helpers/app.ts";
import { quiet } from "../../test/helpers/database.ts";
import { systemClock } from "../clock.ts";
import { loadConfig } from "../config.ts";
import type { Pool } from "../db/index.ts";
import { createHttp } from "../http/index.ts";
import { createIdentity } from "./identity.ts";
import { identityRoutes } from "./identity-routes.ts";
import type { Identity } from "./identity.ts";

export const secret = randomBytes(32).toString("base64url");
export const webUrl = "http://localhost:3000";

export function testIdentity(db: Pool, url = webUrl): Identity {
  return createIdentity({ db, log: quiet, secret, webUrl: url });
}

/** The routes alone, on what every request of the service meets. */
export async function testApp(
  db: Pool,
  identity: Identity,
  guard: () => Promise<void> = () => Promise.resolve(),
): Promise<FastifyInstance> {
  const app = createHttp({
    config: loadConfig(testSettings("postgresql:///unused")),
    log: quiet,
    clock: systemClock,
    guard: () => Promise.resolve(),
    rateHeaders: () => Promise.resolve({}),
  });
  await app.register(identityRoutes({ db, identity, guard }), { prefix: "/api/auth" });
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
