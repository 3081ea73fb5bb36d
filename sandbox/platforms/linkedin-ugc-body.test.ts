import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { acceptedUrns, connect, connected, publish, start, ugcPost } from "./linkedin.testing.ts";

describe("a post that LinkedIn cannot take is refused and not kept", () => {
  const share = "com.linkedin.ugc.ShareContent";
  const content = (changes: object): object => ({
    specificContent: {
      [share]: { shareCommentary: { text: "a" }, shareMediaCategory: "NONE", ...changes },
    },
  });
  const asset = { status: "READY", media: "urn:li:digitalmediaAsset:C5" };
  const text = `/specificContent/${share}/shareCommentary/text`;
  const cases: [name: string, changes: object, code: string, field: string][] = [
    ["no author", { author: undefined }, "MISSING_FIELD", "/author"],
    ["an author of another type", { author: "urn:li:share:1" }, "INVALID_URN_TYPE", "/author"],
    ["an author without id", { author: "urn:li:person:" }, "INVALID_URN_ID", "/author"],
    ["a numeric author", { author: 1 }, "INVALID_VALUE_FOR_FIELD", "/author"],
    ["no lifecycle state", { lifecycleState: undefined }, "MISSING_FIELD", "/lifecycleState"],
    ["a draft", { lifecycleState: "DRAFT" }, "INVALID_VALUE_FOR_FIELD", "/lifecycleState"],
    ["no content", { specificContent: undefined }, "MISSING_FIELD", "/specificContent"],
    ["empty content", { specificContent: {} }, "MISSING_FIELD", `/specificContent/${share}`],
    ["no text", content({ shareCommentary: {} }), "MISSING_FIELD", text],
    [
      "blank text",
      content({ shareCommentary: { text: " \n" } }),
      "INVALID_VALUE_BLANK_FIELD",
      text,
    ],
    [
      "no media category",
      content({ shareMediaCategory: undefined }),
      "MISSING_FIELD",
      `/specificContent/${share}/shareMediaCategory`,
    ],
    [
      "an unknown media category",
      content({ shareMediaCategory: "POLL" }),
      "INVALID_VALUE_FOR_FIELD",
      `/specificContent/${share}/shareMediaCategory`,
    ],
    [
      "media in a text post",
      content({ media: [asset] }),
      "INVALID_VALUE_FOR_FIELD",
      `/specificContent/${share}/media`,
    ],
    [
      "an image that was never uploaded",
      content({ shareMediaCategory: "IMAGE", media: [asset] }),
      "INVALID_IMAGE_ID",
      `/specificContent/${share}/media/0/media`,
    ],
    [
      "a video that was never uploaded",
      content({ shareMediaCategory: "VIDEO", media: [asset] }),
      "INVALID_VIDEO_ID",
      `/specificContent/${share}/media/0/media`,
    ],
    [
      "an article without a web address",
      content({
        shareMediaCategory: "ARTICLE",
        media: [{ status: "READY", originalUrl: "ftp://x" }],
      }),
      "INVALID_URL",
      `/specificContent/${share}/media/0/originalUrl`,
    ],
    ["no visibility", { visibility: undefined }, "MISSING_FIELD", "/visibility"],
    [
      "an unknown visibility",
      { visibility: { "com.linkedin.ugc.MemberNetworkVisibility": "FRIENDS" } },
      "INVALID_VALUE_FOR_FIELD",
      "/visibility/com.linkedin.ugc.MemberNetworkVisibility",
    ],
    ["an unknown field", { commentary: "a" }, "INVALID_VALUE_FOR_FIELD", "/commentary"],
  ];
  test("each bad field is named with its code", async (t) => {
    const { sandbox, token } = await connected(t);
    for (const [name, changes, code, field] of cases) {
      const response = await publish(sandbox, token, { ...ugcPost("a"), ...changes });
      const body = (await response.json()) as {
        message: string;
        status: number;
        code: string;
        errorDetails: { inputErrors: { input: { inputPath: { fieldPath: string } } }[] };
      };
      const fields = body.errorDetails.inputErrors.map(({ input }) => input.inputPath.fieldPath);
      assert.deepEqual(
        [response.status, body.status, body.code, fields],
        [400, 400, code, [field]],
        name,
      );
      assert.ok(body.message.includes(field), name);
    }
    assert.deepEqual(acceptedUrns(sandbox), []);
  });

  test("a body that is no JSON, or not said to be, gets 400 and 415", async (t) => {
    const { sandbox, token } = await connected(t);
    const send = (type: string): Promise<Response> =>
      fetch(`${sandbox.url}/linkedin/v2/ugcPosts`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": type,
          "x-restli-protocol-version": "2.0.0",
        },
        body: "{",
      });
    assert.equal((await send("application/json")).status, 400);
    assert.equal((await send("text/plain")).status, 415);
  });

  test("another protocol version gets 400", async (t) => {
    const { sandbox, token } = await connected(t);
    const headers = { "x-restli-protocol-version": "1.0.0" };
    assert.equal((await publish(sandbox, token, ugcPost("a"), { headers })).status, 400);
    assert.deepEqual(acceptedUrns(sandbox), []);
  });

  test("a token without w_member_social gets 403", async (t) => {
    const sandbox = await start(t);
    const { access_token } = await connect(sandbox, { scope: "openid profile" });
    const response = await publish(sandbox, access_token, ugcPost("a"));
    assert.equal(response.status, 403);
    const { code, serviceErrorCode } = (await response.json()) as Record<string, unknown>;
    assert.deepEqual([code, serviceErrorCode], ["ACCESS_DENIED", 100]);
  });

  test("a post in another's name gets 403", async (t) => {
    const { sandbox, token } = await connected(t);
    const ofOthers = ["urn:li:person:Grace1906H", "urn:li:organization:1"];
    for (const author of ofOthers) {
      const response = await publish(sandbox, token, { ...ugcPost("a"), author });
      const { code } = (await response.json()) as { code: string };
      assert.deepEqual([response.status, code], [403, "ACCESS_DENIED"]);
    }
    assert.deepEqual(acceptedUrns(sandbox), []);
  });
});
