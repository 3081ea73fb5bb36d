import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { connect, grace, publish, publishedUrn, start, ugcPost } from "./linkedin.testing.ts";

describe("the feed", () => {
  test("says so when it is empty", async (t) => {
    const sandbox = await start(t);
    const response = await fetch(`${sandbox.url}/linkedin/feed`);
    assert.match(await response.text(), /Nothing has been posted yet/);
  });

  test("shows posts newest first, as they were written, with author, urn and permalink", async (t) => {
    const sandbox = await start(t);
    const ada = await connect(sandbox);
    const other = await connect(sandbox, { member: grace });
    const text = "One\n\n  two <script>alert(1)</script> https://example.com/a?b=1&c #tag";
    const first = await publishedUrn(await publish(sandbox, ada.access_token, ugcPost(text)));
    const second = await publishedUrn(
      await publish(sandbox, other.access_token, ugcPost("Later", grace)),
    );
    const page = await (await fetch(`${sandbox.url}/linkedin/feed`)).text();
    assert.ok(page.indexOf(second) < page.indexOf(first));
    assert.ok(page.includes(`href="/linkedin/feed/update/${first}/"`));
    assert.match(page, /Ada Lovelace/);
    assert.ok(page.includes("One\n\n  two &lt;script&gt;alert(1)&lt;/script&gt; <a "));
    assert.match(page, /href="https:\/\/example\.com\/a\?b=1&amp;c"/);
    assert.doesNotMatch(page, /<script>/);
  });

  test("shows where an article leads", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    const content = {
      shareCommentary: { text: "Read this" },
      shareMediaCategory: "ARTICLE",
      media: [{ status: "READY", originalUrl: "https://example.com/article" }],
    };
    const specificContent = { "com.linkedin.ugc.ShareContent": content };
    const post = { ...ugcPost(""), specificContent };
    const urn = await publishedUrn(await publish(sandbox, access_token, post));
    const page = await fetch(`${sandbox.url}/linkedin/feed/update/${encodeURIComponent(urn)}/`);
    assert.match(await page.text(), /href="https:\/\/example\.com\/article"/);
  });

  test("has fifty posts on a page and leads to the older ones", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    await Promise.all(
      Array.from({ length: 51 }, (_, index) =>
        publish(sandbox, access_token, ugcPost(`post ${index}`)),
      ),
    );
    const articles = async (path: string): Promise<number> =>
      (await (await fetch(`${sandbox.url}${path}`)).text()).split("<article").length - 1;
    assert.equal(await articles("/linkedin/feed"), 50);
    assert.equal(await articles("/linkedin/feed?start=50"), 1);
  });
});

describe("a permalink", () => {
  test("shows its post alone, with or without the last slash", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox);
    await publishedUrn(await publish(sandbox, access_token, ugcPost("another")));
    const urn = await publishedUrn(await publish(sandbox, access_token, ugcPost("this")));
    for (const path of [`${urn}/`, urn, encodeURIComponent(urn)]) {
      const page = await fetch(`${sandbox.url}/linkedin/feed/update/${path}`);
      const text = await page.text();
      assert.equal(page.status, 200);
      assert.match(text, /this/);
      assert.doesNotMatch(text, /another/);
    }
  });

  test("of no post is a 404", async (t) => {
    const sandbox = await start(t);
    const page = await fetch(`${sandbox.url}/linkedin/feed/update/urn:li:share:1/`);
    assert.equal(page.status, 404);
  });
});
