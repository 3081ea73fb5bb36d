import assert from "node:assert/strict";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { describe, test } from "node:test";
import { files } from "./file-host-files.ts";
import { testSandbox } from "./testing.ts";

const look = (url: string): Promise<Response> => fetch(url, { redirect: "manual" });

async function assertPage(url: string, title: RegExp, status = 200): Promise<void> {
  const response = await look(url);
  assert.equal(response.status, status, url);
  assert.match(response.headers.get("content-type") ?? "", /^text\/html/, url);
  assert.match(await response.text(), title, url);
}

async function assertFile(response: Response, name: string): Promise<void> {
  const file = files.get(name);
  assert.equal(response.status, 200, response.url);
  assert.equal(response.headers.get("content-type"), file?.type);
  assert.equal(response.headers.get("content-disposition"), `attachment; filename="${name}"`);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), file?.bytes);
}

/** As a caller sees it who was led here by the host's real name. */
async function locationByName(sandboxUrl: string, link: string): Promise<string | undefined> {
  const { host, pathname, search } = new URL(link);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const url = `${sandboxUrl}/filehost/${host}${pathname}${search}`;
  request(url, { headers: { host }, agent: false }, resolve).once("error", reject).end();
  const response = await promise;
  response.resume();
  return response.headers.location;
}

describe("Google Drive", () => {
  const id = "sandbox_clip-mp4";

  test("shows a page for a share link", async (t) => {
    const host = `${(await testSandbox(t)).url}/filehost/drive.google.com`;
    for (const path of [
      `/file/d/${id}/view?usp=sharing`,
      `/file/d/${id}`,
      `/file/u/0/d/${id}/view`,
    ])
      await assertPage(host + path, /<title>clip\.mp4 - Google Drive/);
    const opened = await look(`${host}/open?id=${id}`);
    assert.deepEqual(
      [opened.status, opened.headers.get("location")],
      [302, `${host}/file/d/${id}/view`],
    );
    await assertPage(`${host}/file/d/sandbox_none-png/view`, /no such file/, 404);
  });

  test("sends a download link on to the other host, which sends the file", async (t) => {
    const { url } = await testSandbox(t);
    const response = await look(`${url}/filehost/drive.google.com/uc?id=${id}&export=download`);
    const direct = `${url}/filehost/drive.usercontent.google.com/download?id=${id}&export=download`;
    assert.deepEqual([response.status, response.headers.get("location")], [303, direct]);
    await assertFile(await look(direct), "clip.mp4");
    await assertFile(await look(`${direct}&confirm=t`), "clip.mp4");
  });

  test("warns of a large file until the download is confirmed", async (t) => {
    const host = `${(await testSandbox(t)).url}/filehost/drive.usercontent.google.com`;
    const direct = `${host}/download?id=sandbox_large_clip-mp4&export=download`;
    await assertPage(direct, /<title>Google Drive - Virus scan warning/);
    await assertFile(await look(`${direct}&confirm=t`), "clip.mp4");
    assert.equal((await look(`${host}/download?id=unknown&confirm=t`)).status, 404);
  });
});

describe("Dropbox", () => {
  for (const path of ["/s/k1/picture.jpg?", "/scl/fi/k1/picture.jpg?rlkey=r1&"]) {
    test(`shows a page for ${path}dl=0 and redirects dl=1 to the file`, async (t) => {
      const { url } = await testSandbox(t);
      const page = `${url}/filehost/www.dropbox.com${path}`;
      const direct = `${url}/filehost/dl.dropboxusercontent.com${path}`;
      await assertPage(`${page}dl=0`, /<title>picture\.jpg - Dropbox/);
      await assertPage(page, /<title>picture\.jpg - Dropbox/);
      for (const choice of ["dl=1", "raw=1"]) {
        const response = await look(page + choice);
        assert.deepEqual(
          [response.status, response.headers.get("location")],
          [302, direct + choice],
        );
      }
      await assertFile(await look(`${direct}dl=1`), "picture.jpg");
      await assertFile(await look(direct), "picture.jpg");
    });
  }

  test("asks to sign in when the rlkey was lost, and knows no other files", async (t) => {
    const { url } = await testSandbox(t);
    for (const host of ["www.dropbox.com", "dl.dropboxusercontent.com"])
      await assertPage(`${url}/filehost/${host}/scl/fi/k1/picture.jpg?dl=1`, /Sign in/);
    const missing = "/s/k1/none.jpg?dl=1";
    await assertPage(`${url}/filehost/www.dropbox.com${missing}`, /no such file/, 404);
    assert.equal((await look(`${url}/filehost/dl.dropboxusercontent.com${missing}`)).status, 404);
  });
});

describe("OneDrive", () => {
  const encoded = (link: string): string => `u!${Buffer.from(link).toString("base64url")}`;

  test("shows a page for a share link", async (t) => {
    const { url } = await testSandbox(t);
    const response = await look(`${url}/filehost/1drv.ms/u/s!sandbox_picture-png?e=a1`);
    const location = `${url}/filehost/onedrive.live.com/redir?resid=sandbox_picture-png!1&authkey=!A`;
    assert.deepEqual([response.status, response.headers.get("location")], [301, location]);
    await assertPage(location, /<title>picture\.png - OneDrive/);
  });

  test("redirects the encoded share link to the file", async (t) => {
    const { url } = await testSandbox(t);
    const links = [
      "https://1drv.ms/u/s!sandbox_picture-png",
      "https://1drv.ms/i/c/ab12/sandbox_picture-png?e=a1",
      "https://onedrive.live.com/redir?resid=sandbox_picture-png!1&authkey=!A",
    ];
    for (const link of links) {
      const shares = `${url}/filehost/api.onedrive.com/v1.0/shares`;
      const response = await look(`${shares}/${encoded(link)}/root/content`);
      const location = response.headers.get("location") ?? "";
      assert.equal(response.status, 302, link);
      assert.equal(location, `${url}/filehost/public.bl.files.1drv.com/y4m/picture.png`);
      await assertFile(await look(location), "picture.png");
    }
  });

  test("refuses a token that is padded, and one of a link that it does not know", async (t) => {
    const shares = `${(await testSandbox(t)).url}/filehost/api.onedrive.com/v1.0/shares`;
    const known = encoded("https://1drv.ms/u/s!sandbox_picture-png");
    for (const [token, status, code] of [
      [`${known}==`, 400, "invalidRequest"],
      [known.slice(2), 400, "invalidRequest"],
      [encoded("https://1drv.ms/u/s!other"), 404, "itemNotFound"],
      [encoded("https://example.com/s!sandbox_picture-png"), 404, "itemNotFound"],
      [encoded("not an address"), 404, "itemNotFound"],
    ] as const) {
      const response = await look(`${shares}/${token}/root/content`);
      const body = (await response.json()) as { error: { code: string } };
      assert.deepEqual([response.status, body.error.code], [status, code], token);
    }
  });
});

test("a host that is called by its real name hands out real names", async (t) => {
  const { url, journal } = await testSandbox(t);
  const share = Buffer.from("https://1drv.ms/u/s!sandbox_note-txt").toString("base64url");
  const steps = {
    "https://drive.google.com/uc?id=x": "https://drive.usercontent.google.com/download?id=x",
    "https://www.dropbox.com/s/k/note.txt?dl=1":
      "https://dl.dropboxusercontent.com/s/k/note.txt?dl=1",
    [`https://api.onedrive.com/v1.0/shares/u!${share}/root/content`]:
      "https://public.bl.files.1drv.com/y4m/note.txt",
  };
  for (const [link, next] of Object.entries(steps))
    assert.equal(await locationByName(url, link), next);
  assert.deepEqual(
    journal.find({ service: "filehost" }).entries.map(({ operation }) => operation),
    ["filehost.drive", "filehost.dropbox", "filehost.onedrive"],
  );
});
