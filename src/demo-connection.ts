// Connects the demo user's accounts the way a person would, over HTTP: sign in, start, consent, come back.

interface Visit {
  status: number;
  location: string | null;
  body: string;
}

/** A browser that keeps cookies and follows nothing by itself. */
function createBrowser() {
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

export interface DemoConnection {
  functionsUrl: string;
  webUrl: string;
  email: string;
  password: string;
  /** The function that starts the connection, such as `networkAuthStart`. */
  start: string;
  /** What the platform's consent page is answered with. */
  consent: Record<string, string>;
}

function expect(visit: Visit, status: number, step: string): Visit {
  if (visit.status !== status)
    throw new Error(`${step} answered ${visit.status}: ${visit.body.slice(0, 300)}`);
  return visit;
}

export async function connectDemoAccount(demo: DemoConnection): Promise<void> {
  const visit = createBrowser();
  const json = { "content-type": "application/json", origin: new URL(demo.webUrl).origin };
  const { email, password } = demo;
  const signIn = { method: "POST", headers: json, body: JSON.stringify({ email, password }) };
  expect(await visit(`${demo.webUrl}/api/auth/sign-in/email`, signIn), 200, "sign-in");
  const start = expect(await visit(`${demo.functionsUrl}/${demo.start}`), 302, demo.start);
  const form = { method: "POST", body: new URLSearchParams(demo.consent) };
  const consent = expect(await visit(start.location ?? "", form), 302, "consent");
  expect(await visit(consent.location ?? ""), 200, "callback");
}
