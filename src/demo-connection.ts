import { createBrowser, expect, signIn } from "./demo-browser.ts";
import type { DemoUser } from "./demo-browser.ts";

export interface DemoConnection extends DemoUser {
  functionsUrl: string;
  /** The function that starts the connection, such as `networkAuthStart`. */
  start: string;
  /** What the platform's consent page is answered with. */
  consent: Record<string, string>;
}

/** Connects an account of the demo user's the way a person would: sign in, start, consent, come back. */
export async function connectDemoAccount(demo: DemoConnection): Promise<void> {
  const visit = createBrowser();
  await signIn(visit, demo);
  const start = expect(await visit(`${demo.functionsUrl}/${demo.start}`), 302, demo.start);
  const form = { method: "POST", body: new URLSearchParams(demo.consent) };
  const consent = expect(await visit(start.location ?? "", form), 302, "consent");
  expect(await visit(consent.location ?? ""), 200, "callback");
}
