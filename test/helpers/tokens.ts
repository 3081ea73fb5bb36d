import type { FastifyInstance } from "fastify";

export interface SignedUp {
  token: string;
  userId: string;
}

export interface Credentials {
  email: string;
  password: string;
}

interface Init {
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string;
}

type Ask = (path: string, init: Init) => Promise<Response>;

export const newCredentials = (): Credentials => ({
  email: `${crypto.randomUUID()}@users.example`,
  password: "a long enough password",
});

async function enter(
  ask: Ask,
  door: "sign-up" | "sign-in",
  webUrl: string,
  who: Credentials,
): Promise<SignedUp> {
  const answer = await ask(`/api/auth/${door}/email`, {
    method: "POST",
    headers: { origin: new URL(webUrl).origin, "content-type": "application/json" },
    body: JSON.stringify(door === "sign-up" ? { ...who, name: "Ada" } : who),
  });
  if (answer.status !== 200)
    throw new Error(`${door} answered ${answer.status}: ${await answer.text()}`);
  const { user } = (await answer.json()) as { user: { id: string } };
  const cookie = answer.headers.getSetCookie().find((line) => line.startsWith("__session=")) ?? "";
  const session = await ask("/api/auth/token", {
    method: "GET",
    headers: { cookie: cookie.split(";")[0] ?? "" },
  });
  const { token } = (await session.json()) as { token: string };
  return { token, userId: user.id };
}

/** Signs a new user up with the built-in identity provider and returns the user's ID token. */
export async function signUp(app: FastifyInstance, webUrl: string): Promise<SignedUp> {
  const inject: Ask = async (url, { body, ...rest }) => {
    const answer = await app.inject({
      url,
      ...rest,
      ...(body === undefined ? {} : { payload: body }),
    });
    const headers = new Headers();
    for (const line of [answer.headers["set-cookie"] ?? []].flat())
      headers.append("set-cookie", line);
    return new Response(answer.body, { status: answer.statusCode, headers });
  };
  return await enter(inject, "sign-up", webUrl, newCredentials());
}

/** The ID token of a user who exists, over the wire. */
export async function signInOver(
  apiUrl: string,
  webUrl: string,
  who: Credentials,
): Promise<SignedUp> {
  return await enter(
    async (path, init) => await fetch(apiUrl + path, init),
    "sign-in",
    webUrl,
    who,
  );
}
