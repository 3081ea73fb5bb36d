// The demo user's browser: what a person would do over HTTP, step by step.

export interface Visit {
  status: number;
  location: string | null;
  body: string;
}

/** A browser that keeps cookies and follows nothing by itself. */
export function createBrowser() {
  const cookies = new Map<string, string>();
  return async (url: string, init: RequestInit = {}): Promise<Visit> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: { ...(init.headers as Record<string, string>), ...(cookie ? { cookie } : {}) },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const at = pair.indexOf("=");
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return {
      status: answer.status,
      location: answer.headers.get("location"),
      body: await answer.text(),
    };
  };
}

export function expect(visit: Visit, status: number, step: string): Visit {
  if (visit.status !== status)
    throw new Error(`${step} answered ${visit.status}: ${visit.body.slice(0, 300)}`);
  return visit;
}

export type Browser = ReturnType<typeof createBrowser>;

export interface DemoUser {
  webUrl: string;
  email: string;
  password: string;
}

export async function signIn(visit: Browser, { webUrl, email, password }: DemoUser): Promise<void> {
  const headers = { "content-type": "application/json", origin: new URL(webUrl).origin };
  const form = { method: "POST", headers, body: JSON.stringify({ email, password }) };
  expect(await visit(`${webUrl}/api/auth/sign-in/email`, form), 200, "sign-in");
}
