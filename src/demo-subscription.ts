import { createBrowser, expect, signIn } from "./demo-browser.ts";
import type { DemoUser } from "./demo-browser.ts";

const card = "4242424242424242";

/** Tells the sandbox's payment provider where its events go. */
export async function receivePayments(sandboxUrl: string, functionsUrl: string): Promise<void> {
  const settings = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ endpoint: `${functionsUrl}/paymentWebhook` }),
  };
  const visit = createBrowser();
  expect(await visit(`${sandboxUrl}/payments/_control`, settings), 200, "the payment provider");
}

/** Subscribes the demo user the way a person would: sign in, check out, pay, come back. */
export async function subscribeDemo(demo: DemoUser, planId: string): Promise<void> {
  const visit = createBrowser();
  await signIn(visit, demo);
  const token = expect(await visit(`${demo.webUrl}/api/auth/token`), 200, "token");
  const { token: idToken } = JSON.parse(token.body) as { token: string };
  const post = (body: object): RequestInit => ({
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${idToken}` },
    body: JSON.stringify(body),
  });
  const begin = await visit(`${demo.webUrl}/api/create-checkout-session`, post({ planId }));
  const { sessionId, url } = JSON.parse(expect(begin, 200, "checkout").body) as {
    sessionId: string;
    url: string;
  };
  const payment = { method: "POST", body: new URLSearchParams({ decision: "pay", card }) };
  expect(await visit(url, payment), 303, "payment");
  const finish = await visit(`${demo.webUrl}/api/verify-session`, post({ sessionId }));
  expect(finish, 200, "the end of the checkout");
}
