import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom } from "../chaos/random.ts";
import {
  checkoutEvent,
  hmac,
  newStory,
  nowSeconds,
  secret,
  signatureOf,
  signedRequest,
} from "../helpers/payment-events.ts";
import { forgeries, newBody } from "../helpers/payment-forgeries.ts";
import type { Delivery } from "../helpers/payment-forgeries.ts";
import { countRows, paymentSandbox, paymentStage } from "../helpers/payment-stage.ts";

const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1_000_000));
const random = createRandom(seed);
const newSecret = "whsec_new";

const { app, db, log } = await paymentStage(await paymentSandbox(), {
  WEBHOOK_SIGNING_SECRET: `${secret},${newSecret}`,
});
const total = 2_300;
const perKind = Math.ceil(total / Object.keys(forgeries).length);

async function post({ body, signature, headers }: Delivery): Promise<[number, unknown]> {
  const answer = await app.inject({
    method: "POST",
    url: "/functions/paymentWebhook",
    headers: {
      "content-type": "application/json; charset=utf-8",
      ...(signature !== undefined && { "stripe-signature": signature }),
      ...headers,
    },
    payload: body,
  });
  return [answer.statusCode, answer.json()];
}

function assertRefused([status, body]: [number, unknown], why: string): void {
  assert.equal(status, 400, why);
  assert.partialDeepStrictEqual(body, {
    success: false,
    error: { type: "invalid_request_error", code: "validation_error" },
  });
}

for (const [kind, forge] of Object.entries(forgeries)) {
  test(`refused with 400, and nothing is written: ${kind}`, async () => {
    const before = await countRows(db);
    for (let index = 0; index < perKind; index++) {
      const delivery = forge({ body: newBody(random), random });
      assertRefused(await post(delivery), `seed ${seed}: ${delivery.signature}`);
    }
    assert.deepEqual(await countRows(db), before);
  });
}

test("of two deliveries whose bodies were swapped neither is accepted, and as they were both are", async () => {
  const before = await countRows(db);
  const bodies = [newBody(random), newBody(random)].map((body) => Buffer.from(body));
  const signatures = bodies.map((body) => signatureOf(body));
  for (const [index, body] of bodies.entries())
    assertRefused(await post({ body, signature: signatures[1 - index] }), "swapped");
  assert.deepEqual(await countRows(db), before);
  for (const [index, body] of bodies.entries())
    assert.equal((await post({ body, signature: signatures[index] }))[0], 200);
  assert.equal((await countRows(db))["events"], (before["events"] ?? 0) + 2);
});

test("a time ahead is refused, whatever else the header calls a time", async () => {
  const before = await countRows(db);
  for (const form of ["t=NOW,t=AHEADx", "t=AHEADx,t=NOW ", "t=AHEAD.5, t=NOW", " t=NOW,t=+AHEAD"]) {
    const body = newBody(random);
    const ahead = nowSeconds() + 86_400;
    const times = form.replace("NOW", String(nowSeconds())).replace("AHEAD", String(ahead));
    const signature = `${times},v1=${hmac(body, secret, ahead)}`;
    assertRefused(await post({ body: Buffer.from(body), signature }), form);
  }
  assert.deepEqual(await countRows(db), before);
});

function bodyOf(sizeBytes: number): Buffer {
  const event = { ...checkoutEvent(newStory(), 0), padding: "" };
  event.padding = "x".repeat(sizeBytes - JSON.stringify(event).length);
  return Buffer.from(JSON.stringify(event));
}

test("a signed body of one byte more than 1 MB is refused with 413, one of 1 MB is accepted", async () => {
  const before = await countRows(db);
  const large = bodyOf(1_048_577);
  const [status, answer] = await post({ body: large, signature: signatureOf(large) });
  assert.equal(status, 413);
  assert.partialDeepStrictEqual(answer, { success: false, error: { code: "payload_too_large" } });
  assert.deepEqual(await countRows(db), before);
  const fitting = bodyOf(1_048_576);
  assert.equal((await post({ body: fitting, signature: signatureOf(fitting) }))[0], 200);
});

test("while the secret is replaced both are accepted, alone or side by side", async () => {
  const forms = {
    old: (body: string, t: number) => `v1=${hmac(body, secret, t)}`,
    new: (body: string, t: number) => `v1=${hmac(body, newSecret, t)}`,
    both: (body: string, t: number) => `v1=${hmac(body, secret, t)},v1=${hmac(body, newSecret, t)}`,
    "one that fits at the end": (body: string, t: number) =>
      `v1=${"0".repeat(64)},v0=${"0".repeat(64)},v1=${hmac(body, newSecret, t)}`,
    "one that fits at the beginning": (body: string, t: number) =>
      `v1=${hmac(body, secret, t)},v1=${"0".repeat(64)}`,
  };
  for (const [name, form] of Object.entries(forms))
    for (const age of [0, 150, 298, -150, -298]) {
      const before = await countRows(db);
      const [body, t] = [newBody(random), nowSeconds() - age];
      const signature = `t=${t},${form(body, t)}`;
      const [status] = await post({ body: Buffer.from(body), signature });
      assert.equal(status, 200, `${name}, ${age} s old`);
      assert.equal((await countRows(db))["events"], (before["events"] ?? 0) + 1);
    }
});

test("a secret that is not listed any more is refused", async () => {
  const rotated = await paymentStage(await paymentSandbox(), { WEBHOOK_SIGNING_SECRET: newSecret });
  const event = checkoutEvent(newStory(), 0);
  assert.equal((await rotated.app.inject(signedRequest(event, secret))).statusCode, 400);
  assert.equal((await rotated.app.inject(signedRequest(event, newSecret))).statusCode, 200);
});

test("no secret and no hash is in the log", () => {
  assert.ok(log.length > total / 2);
  assert.ok(!/whsec_|v1=|[0-9a-f]{64}/.test(JSON.stringify(log)));
});
