// What the tests of this room share: two small platforms on a socket of their own, the real app in front of them, and
// browsers that keep their cookies.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import type { Logger } from "pino";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { testSettings } from "../../test/helpers/app.ts";
import type { Settings } from "../../test/helpers/app.ts";
import { quiet, testDatabase } from "../../test/helpers/database.ts";
import { newCredentials } from "../../test/helpers/tokens.ts";
import { identityRoutes } from "../auth/index.ts";
import { loadConfig } from "../config.ts";
import { createDeps } from "../deps.ts";
import { createHttp } from "../http/index.ts";
import { createGuard } from "../limits/index.ts";
import { createOutbound } from "../outbound/index.ts";
import { PlatformError } from "../platforms/index.ts";
import type { OAuthSettings, PlatformAdapter, Profile, Registry } from "../platforms/index.ts";
import type { ConnectionDeps } from "./deps.ts";
import { accountRoutes, connectionRoutes } from "./index.ts";

export interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
  form: URLSearchParams;
}

type Handler = (asked: Asked, response: ServerResponse) => unknown;

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export interface Platform {
  url: string;
  journal: Asked[];
  /** The forms that came to the token address. */
  tokenForms(): Record<string, string>[];
  /** What it answers from now on; both may be replaced. */
  token: Handler;
  me: Handler;
}

export const goodReply = {
  access_token: "access-1",
  token_type: "Bearer",
  expires_in: 5_184_000,
  scope: "w_member_social openid profile",
};

/** A platform's token and profile addresses. */
export async function startPlatform(): Promise<Platform> {
  const journal: Asked[] = [];
  const platform: Platform = {
    url: "",
    journal,
    tokenForms: () =>
      journal.filter(({ path }) => path === "/token").map(({ form }) => Object.fromEntries(form)),
    token: (_asked, response) => json(response, 200, goodReply),
    me: (_asked, response) => json(response, 200, { id: "person-1", name: "Ada", handle: "ada" }),
  };
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = await request.toArray();
      const path = request.url ?? "";
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const asked = { path, headers: request.headers, form };
      journal.push(asked);
      await (path === "/token" ? platform.token : platform.me)(asked, response);
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  platform.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return platform;
}

function adapterOf(
  platform: Platform,
  name: "linkedin" | "twitter",
  oauth: Pick<OAuthSettings, "usesPkce" | "clientAuth">,
): PlatformAdapter {
  return {
    name,
    aliases: name === "linkedin" ? ["network"] : ["x"],
    accepts: { text: null, kinds: ["text"], maxImages: 0 },
    oauth: {
      authorizeUrl: "https://platform.example/authorize?from=herald",
      tokenUrl: `${platform.url}/token`,
      clientId: "client id",
      clientSecret: "s&cret:1",
      scopes: ["w_member_social", "openid", "profile"],
      scopeSeparator: " ",
      ...oauth,
    },
    async profile(call) {
      const answer = await call.send({ method: "GET", url: `${platform.url}/me` });
      if (answer.status !== 200) throw new PlatformError("rejected", "no profile");
      const { id, name: displayName, handle } = JSON.parse(answer.body) as Record<string, string>;
      const urn = `urn:li:person:${id}`;
      return {
        accountId: id,
        displayName,
        username: handle,
        avatarUrl: null,
        authorUrn: urn,
      } as Profile;
    },
    publish: () => Promise.reject(new Error("not part of this test")),
    permalink: () => null,
  };
}

/** `linkedin` proves itself in the form, `twitter` by header and PKCE. */
export function registryOf(platform: Platform): Registry {
  const adapters = [
    adapterOf(platform, "linkedin", { usesPkce: false, clientAuth: "form" }),
    adapterOf(platform, "twitter", { usesPkce: true, clientAuth: "basic" }),
  ];
  const names = new Map(
    adapters.flatMap(({ name, aliases }) => [name, ...aliases].map((alias) => [alias, name])),
  );
  return {
    get: (name) => adapters.find((adapter) => adapter.name === name),
    resolve: (value) => names.get(value),
    all: () => adapters,
  };
}

/** Everything this room needs, on a database of its own, and the routes mounted as the service mounts them. */
export async function testConnections(
  settings: Settings = {},
  { returnToOrigins = [], log = quiet }: { returnToOrigins?: string[]; log?: Logger } = {},
) {
  const database = await testDatabase();
  const platform = await startPlatform();
  const config = loadConfig({
    ...testSettings(database.url),
    RATE_LIMIT_DEFAULT_MAX: "100000",
    RATE_LIMIT_AUTH_MAX: "100000",
    ...settings,
  });
  const base = createDeps(config, log);
  const { gate, idTokens } = base;
  const deps: ConnectionDeps & typeof base = {
    ...base,
    registry: registryOf(platform),
    outbound: createOutbound({ log }),
    urls: config.urls,
    returnToOrigins,
  };
  const app = createHttp({
    ...deps,
    guard: createGuard(gate, async (token) => await idTokens.verify(token)),
    rateHeaders: () => Promise.resolve({}),
  });
  await app.register(connectionRoutes(deps), { prefix: new URL(config.urls.functions).pathname });
  await app.register(accountRoutes(deps, "apiKey"), { prefix: "/v1" });
  await app.register(accountRoutes(deps, "idToken"), { prefix: "/api/v1" });
  const guard = (): Promise<void> => Promise.resolve();
  await app.register(identityRoutes({ ...deps, guard }), { prefix: "/api/auth" });
  after(async () => {
    await app.close();
    await base.close();
  });
  return { ...database, app, deps, config, platform };
}

/** A browser: it keeps the cookies it is given and sends them back. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #app: FastifyInstance;

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  async ask(url: string, options: InjectOptions = {}): Promise<LightMyRequestResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(cookie && { cookie }), ...options.headers };
    const answer = await this.#app.inject({ ...options, url, headers });
    for (const line of [answer.headers["set-cookie"] ?? []].flat()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.cookies.set(name, value);
    }
    return answer;
  }

  /** Signs a new user up here. */
  async signUp(origin: string) {
    const who = { ...newCredentials(), name: "Ada <Lovelace>" };
    const entered = await this.ask("/api/auth/sign-up/email", {
      method: "POST",
      headers: { origin },
      payload: who,
    });
    assert.equal(entered.statusCode, 200, entered.body);
    const { token } = (await this.ask("/api/auth/token")).json<{ token: string }>();
    const userId = entered.json<{ user: { id: string } }>().user.id;
    return { userId, email: who.email, token };
  }
}

/** The state of the flow that an answer of AuthStart begins. */
export function stateIn(answer: LightMyRequestResponse): string {
  assert.equal(answer.statusCode, 302, answer.body);
  return new URL(String(answer.headers.location)).searchParams.get("state") ?? "";
}
