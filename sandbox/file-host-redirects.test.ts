import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { files } from "./file-host-files.ts";
import { testSandbox } from "./testing.ts";

const look = (url: string): Promise<Response> => fetch(url, { redirect: "manual" });

async function locationAt(url: string): Promise<[status: number, location: string | null]> {
  const { status, headers } = await look(url);
  return [status, headers.get("location")];
}

describe("the file host's redirects", () => {
  test("lead over as many hops as asked to the file, each journaled", async (t) => {
    const sandbox = await testSandbox(t);
    const base = `${sandbox.url}/filehost`;
    const query = "file=note.txt&status=307";
    assert.deepEqual(await locationAt(`${base}/redirect/hops/3?${query}`), [
      307,
      `${base}/redirect/hops/2?${query}`,
    ]);
    assert.deepEqual(await locationAt(`${base}/redirect/hops/1?${query}`), [
      307,
      `${base}/files/note.txt`,
    ]);
    const response = await fetch(`${base}/redirect/hops/5`);
    assert.equal(response.url, `${base}/files/picture.png`);
    const walked = sandbox.journal.find({ after: 2 }).entries.map(({ operation }) => operation);
    assert.deepEqual(walked, [...Array<string>(5).fill("filehost.redirect"), "filehost.file"]);
  });

  test("lead to themselves", async (t) => {
    const address = `${(await testSandbox(t)).url}/filehost/redirect/loop`;
    assert.deepEqual(await locationAt(address), [302, address]);
  });

  test("lead to any address, as it was given", async (t) => {
    const { url } = await testSandbox(t);
    for (const to of [
      "http://169.254.169.254/latest",
      "file:///etc/passwd",
      "//[::1]:22/",
      "a b",
    ]) {
      const address = `${url}/filehost/redirect/to?status=301&to=${encodeURIComponent(to)}`;
      assert.deepEqual(await locationAt(address), [301, to]);
    }
  });

  test("lead to a relative address", async (t) => {
    const { url } = await testSandbox(t);
    const address = `${url}/filehost/redirect/relative?file=clip.mp4`;
    assert.deepEqual(await locationAt(address), [302, "../files/clip.mp4"]);
    const bytes = Buffer.from(await (await fetch(address)).arrayBuffer());
    assert.deepEqual(bytes, files.get("clip.mp4")?.bytes);
  });

  test("lead nowhere", async (t) => {
    const { url } = await testSandbox(t);
    assert.deepEqual(await locationAt(`${url}/filehost/redirect/no-location`), [302, null]);
  });

  test("are meant for browsers alone", async (t) => {
    const { url } = await testSandbox(t);
    const response = await look(`${url}/filehost/redirect/refresh`);
    assert.deepEqual([response.status, response.headers.get("location")], [200, null]);
    assert.equal(response.headers.get("refresh"), `0; url=${url}/filehost/files/picture.png`);
    assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
    const other = await look(`${url}/filehost/redirect/refresh?to=http://127.0.0.1/`);
    assert.equal(other.headers.get("refresh"), "0; url=http://127.0.0.1/");
  });
});
