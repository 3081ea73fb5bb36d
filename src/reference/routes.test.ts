import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { z } from "zod";
import { config, describedApp, postBody, ruleBody, sampleRoutes } from "./openapi.testing.ts";
import { tiers } from "./page-guide.ts";

const { app, document } = await describedApp(sampleRoutes);
const reply = await app.inject("/docs");
const page = reply.body;

const unescaped = (text: string): string =>
  text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

function articleOf(operationId: string): string {
  const [, rest = ""] = page.split(`<article id="${operationId}">`);
  return rest.split("</article>")[0] ?? "";
}

/** The first example of a call, as it would be pasted into a shell. */
function curlOf(operationId: string): string {
  return unescaped(/<pre><code>(.*?)<\/code><\/pre>/s.exec(articleOf(operationId))?.[1] ?? "");
}

test("the page is open HTML, allowed its own style and nothing else", () => {
  assert.equal(reply.statusCode, 200);
  assert.equal(reply.headers["content-type"], "text/html; charset=utf-8");
  const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? "";
  assert.ok(style.length > 1_000);
  const policy = String(reply.headers["content-security-policy"]).split("; ");
  assert.deepEqual(policy, [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", style, "base64")}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  assert.equal(page.match(/<style/g)?.length, 1);
});

test("the page needs nothing from elsewhere", () => {
  assert.doesNotMatch(page, /<(script|link|img|iframe|object|embed|form|base|svg)\b/i);
  assert.doesNotMatch(page, /\s(src|srcset|style|action|on\w+)\s*=/i);
  assert.doesNotMatch(page, /url\(|@import|javascript:/i);
  const targets = [...page.matchAll(/href="([^"]*)"/g)].map(([, target = ""]) => target);
  assert.deepEqual(
    targets.filter((target) => !target.startsWith("#")),
    ["openapi.json"],
  );
});

test("every link of the page leads to its one place, and every operation has one", () => {
  const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const [, id = ""] of page.matchAll(/href="#([^"]*)"/g)) assert.ok(ids.includes(id), id);
  for (const operations of Object.values(document().paths)) {
    for (const { operationId } of Object.values(operations)) {
      assert.ok(page.includes(`href="#${operationId}"`), `${operationId} is not in the contents`);
      assert.notEqual(articleOf(operationId), "");
    }
  }
});

test("text that looks like markup is shown, not run", async () => {
  const hostile = `<script>alert("1")</script>' onload='x' \`<img src=x>\` & "`;
  const { app } = await describedApp(async (scope) => {
    const field = z.string().describe(hostile).default(hostile);
    const form = z.object({ [hostile]: field, kind: z.enum([hostile]), fixed: z.literal(hostile) });
    scope.post(
      "/hostile",
      {
        schema: {
          tags: [hostile],
          summary: hostile,
          description: hostile,
          body: z.union([form, form.extend({ fixed: z.literal("other") })]),
          querystring: z.object({ query: field }),
          response: { 200: form.describe(hostile) },
        },
      },
      async () => ({}),
    );
  });
  const { body } = await app.inject("/docs");
  assert.ok(body.includes("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"));
  assert.doesNotMatch(body, /<script|<img/i);
  assert.doesNotMatch(body.replaceAll(/<style>.*<\/style>/gs, ""), /<[^>]*\son\w+=/i);
});

test("the example of a call can be pasted, and its body is one that the route accepts", () => {
  const lines = curlOf("postV1Posts").split(" \\\n  ");
  assert.equal(lines[0], "curl -X POST http://localhost:3000/v1/posts");
  assert.ok(lines.includes('-H "svc-api-key: $API_KEY"'));
  assert.ok(lines.includes('-H "Content-Type: application/json"'));
  assert.ok(lines.includes('-H "Idempotency-Key: $(uuidgen)"'));
  const bodyOf = (curl: string): unknown => JSON.parse(/-d '(.*)'$/s.exec(curl)?.[1] ?? "");
  assert.equal(postBody.safeParse(bodyOf(curlOf("postV1Posts"))).success, true);
  assert.equal(ruleBody.safeParse(bodyOf(curlOf("postRules"))).success, true);
  assert.equal(
    curlOf("deleteV1PostsById"),
    'curl -X DELETE "http://localhost:3000/v1/posts/$ID" \\\n  -H "Authorization: Bearer $ID_TOKEN"',
  );
  assert.equal(curlOf("getHealth"), "curl http://localhost:3000/health");
});

test("fields are shown with type, limits and what they are for, and forms apart", () => {
  const post = articleOf("postV1Posts")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/\s+/g, " ");
  assert.match(post, /text string required What to say, as is at most 100,000 characters/);
  assert.match(
    post,
    /platform string or object or array of \(string or object\) required one of twitter, linkedin/,
  );
  assert.match(post, /platform\.accountId string required at least 1 character/);
  assert.match(post, /scheduledTime date-time or null/);
  assert.match(post, /isTrial boolean default false/);
  assert.match(post, /comments\[\]\.replies array of objects/);
  assert.match(post, /svc-api-key 30 per minute/);
  assert.match(post, /400 missing_integrations/);
  const rule = articleOf("postRules").replaceAll(/<[^>]*>/g, "");
  assert.match(rule, /Where kind is &quot;repost&quot;[^]*Where kind is &quot;rewrite&quot;/);
});

test("the tiers of the guide are those that the service starts with", () => {
  const shown = tiers.map(({ limit, burst }) => ({ capacity: limit + burst, windowMs: 60_000 }));
  assert.deepEqual(shown, config.limits.tiers);
  for (const { name, limit, burst } of tiers) {
    assert.match(
      page,
      new RegExp(`<code>${name}</code>[^]*?<td>${limit}</td>\\s*<td>${burst}</td>`),
    );
  }
});
