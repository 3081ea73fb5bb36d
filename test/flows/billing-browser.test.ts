import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { billingStage } from "../helpers/billing.ts";
import { chromiumIsMissing, startChromium } from "../helpers/chromium.ts";
import { newCredentials } from "../helpers/tokens.ts";

/** A call of the page's own, with the browser's cookies. */
async function ask(page: Page, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const script = async ([url, payload]: [string, unknown]) => {
    const token = url.startsWith("/api/auth/")
      ? ""
      : ((await (await fetch("/api/auth/token")).json()) as { token: string }).token;
    const answer = await fetch(url, {
      method: payload === null ? "GET" : "POST",
      headers: {
        ...(payload === null ? {} : { "content-type": "application/json" }),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      ...(payload === null ? {} : { body: JSON.stringify(payload) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  return await page.evaluate(script, [path, body ?? null] as [string, unknown]);
}

const picture = async (page: Page, name: string): Promise<void> => {
  const dir = process.env["SCREENSHOTS"];
  if (dir) await page.screenshot({ path: `${dir}/${name}.png`, fullPage: true });
};

test(
  "in a browser: sign up, check out, trial and credits, portal, cancel",
  { skip: chromiumIsMissing },
  async (t) => {
    const stage = await billingStage();
    const browser = await startChromium();
    t.after(async () => await browser.close());
    // The pages that will make these calls are yet to come: here they are made from a bare one, which may not.
    const page = await browser.newPage({ bypassCSP: true });
    const blank = `${stage.url}/livez`;
    await page.goto(blank);
    const signedUp = await ask(page, "/api/auth/sign-up/email", {
      ...newCredentials(),
      name: "Ada",
    });
    assert.ok(signedUp["user"], JSON.stringify(signedUp));

    const { url, sessionId } = await ask(page, "/api/create-checkout-session", {
      planId: "starter",
    });
    await page.goto(String(url));
    await picture(page, "1-checkout");
    await page.fill("[name=card]", "4000000000000002");
    await page.click("button[value=pay]");
    assert.match((await page.textContent("body")) ?? "", /declined/i);
    await picture(page, "2-declined");
    await page.fill("[name=card]", "4242424242424242");
    await page.click("button[value=pay]");
    await page.waitForURL((address) => address.searchParams.get("session_id") === sessionId);

    await page.goto(blank);
    const verified = await ask(page, "/api/verify-session", { sessionId });
    assert.partialDeepStrictEqual(verified, { status: "trialing", planId: "starter" });
    assert.partialDeepStrictEqual(await ask(page, "/api/v1/credits"), { balance: 60 });

    // As a button of a page would: by the session's cookie alone.
    const portal = await page.evaluate(async () => {
      const headers = { accept: "application/json" };
      const answer = await fetch("/api/billing/portal", { method: "POST", headers });
      return ((await answer.json()) as { url: string }).url;
    });
    await page.goto(portal);
    await picture(page, "3-portal");
    await page.click("button[value=cancel]");
    await page.waitForSelector("button[value=undo]");
    await picture(page, "4-canceled");
    await stage.delivered();
    await page.goto(blank);
    assert.partialDeepStrictEqual(await ask(page, "/api/billing/subscription"), {
      status: "trialing",
      cancelAtPeriodEnd: true,
    });
  },
);
