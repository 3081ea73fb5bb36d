import assert from "node:assert/strict";
import { isIP } from "node:net";
import { after, beforeEach, test } from "node:test";
import { isPublicAddress } from "../../src/outbound/addresses.ts";
import {
  forbiddenPorts,
  insideV4,
  insideV6,
  localNames,
  otherSchemes,
  outsideAddresses,
  spellings,
} from "../helpers/addresses-cases.ts";
import { outcome, publicAddress, redirect, startNetwork } from "../helpers/addresses-network.ts";

// A download from an address that a user chose never reaches inside.

/** What the name server says: a test sets it; every name it does not know is on the open internet. */
let answers = new Map<string, () => string[] | Promise<string[]>>();
const isLocal = (name: string): boolean => /local|nip|internal/.test(name);
const network = await startNetwork(async (name) =>
  isLocal(name) ? ["127.0.0.1"] : ((await answers.get(name)?.()) ?? [publicAddress]),
);
const { dialled, resolved } = network;
after(network.close);
beforeEach(() => {
  answers = new Map();
  dialled.length = resolved.length = 0;
});

/** Runs all cases, and tells those that came out otherwise. */
async function check(cases: readonly (readonly [string, string])[], atLeast: number) {
  assert.ok(cases.length >= atLeast, `${cases.length} cases`);
  const wrong: unknown[] = [];
  for (const [url, expected] of cases) {
    const actual = await outcome(network, url);
    if (actual !== expected) wrong.push({ url, actual, expected });
  }
  assert.deepEqual(wrong, []);
}

const isWebsite = (socket: string): boolean => socket.startsWith(`${publicAddress}:`);
const bracketed = (ip: string): string => (isIP(ip) === 6 ? `[${ip}]` : ip);
const inside = [...insideV4, ...insideV6];

test("each address inside is known as such, and each one just outside as public", () => {
  assert.deepEqual(inside.filter(isPublicAddress), []);
  assert.deepEqual(
    outsideAddresses.filter((ip) => !isPublicAddress(ip)),
    [],
  );
  for (const ip of ["", "localhost", "1.2.3", "0x7f.1", "[::1]", "8.8.8.8 ", "fe80::1%lo"]) {
    assert.equal(isPublicAddress(ip), false, ip);
  }
});

test("350 literals, in every spelling, open no socket", async () => {
  const written = insideV4.flatMap((ip) => spellings.map((spell) => [spell(ip), ip] as const));
  for (const [url, ip] of written) assert.equal(new URL(url).hostname, ip, url);
  const cases = [
    ...written.map(([url]) => url),
    ...insideV6.flatMap((ip) => [`http://[${ip}]/`, `https://[${ip}]:8443/`]),
    ...insideV4.map((ip) => `http://[::ffff:${ip}]/`),
    ...localNames.map((name) => `http://${name}/`),
    ...forbiddenPorts.map((port) => `http://files.example:${port}/`),
  ].map((url) => [url, new URL(url).username ? "address" : "forbidden_address"] as const);
  await check([...cases, ...otherSchemes.map((url) => [url, "address"] as const)], 350);
  assert.deepEqual(dialled, []);
  assert.equal(await network.intruders(), 0);
});

test("files of the open internet are downloaded, at its four ports", async () => {
  const ports = ["http://a.example", "https://a.example", "http://a.example:8080"];
  const urls = [
    ...ports,
    "https://a.example:8443",
    `http://${publicAddress}`,
    "http://b.example./",
  ];
  await check(
    urls.map((url) => [url, "file"] as const),
    6,
  );
  assert.deepEqual(
    dialled.map((socket) => socket.split(":")[1]),
    ["80", "443", "8080", "8443", "80", "80"],
  );
});

test("120 redirects from the open internet to the inside end at its door", async () => {
  const targets = [
    ...inside.map((ip) => `http://${bracketed(ip)}/`),
    ...insideV4.map((ip) => `https://${ip}:8443/`),
    ...spellings.slice(0, 13).map((spell) => spell("127.0.0.1")),
    ..."http://localhost/ http://a.localhost:8080/ //127.0.0.1/ \\\\127.0.0.1\\ ".split(" "),
    ...forbiddenPorts.map((port) => `http://files.example:${port}/`),
  ].filter(Boolean);
  const site = "http://files.example";
  const direct = targets.map((to, index) => {
    const status = [301, 302, 303, 307, 308][index % 5];
    return [site + redirect(to, status), "forbidden_address"] as const;
  });
  const chains = [1, 2, 3, 4].map((hops) => {
    let to = "http://169.254.169.254/latest";
    for (let hop = 0; hop <= hops; hop += 1) to = `http://hop${hop}.example${redirect(to)}`;
    return [to, "forbidden_address"] as const;
  });
  const schemes = [...otherSchemes, "http://a:b@127.0.0.1/", "http://a@files.example/", "http://["];
  await check(
    [...direct, ...chains, ...schemes.map((to) => [site + redirect(to), "address"] as const)],
    120,
  );
  assert.ok(dialled.every(isWebsite));
  assert.equal(await network.intruders(), 0);
});

test("a chain of six, a circle and a way back to http are not followed; a Refresh is no redirect", async () => {
  const chain = (hops: number): string => {
    let to = "http://end.example/";
    for (let hop = 0; hop < hops; hop += 1) to = `http://hop${hop}.example${redirect(to)}`;
    return to;
  };
  const secure = (to: string): string => `https://files.example${redirect(to)}`;
  await check(
    [
      [chain(5), "file"],
      [chain(6), "redirects"],
      ["http://files.example/r/302/", "redirects"],
      [`http://files.example${redirect("#again")}`, "redirects"],
      [secure("http://files.example/"), "redirects"],
      [secure("https://other.example/"), "file"],
      [`http://files.example${redirect("https://other.example/")}`, "file"],
      [`http://files.example/refresh/0/${encodeURIComponent("http://127.0.0.1/")}`, "file"],
    ],
    8,
  );
  assert.ok(dialled.every(isWebsite));
  assert.equal(await network.intruders(), 0);
});

test("130 answers of a name server with anything inside among them open no socket", async () => {
  const other = "2606:4700::1111";
  const records = [
    ...inside.flatMap((ip) => [[ip], [publicAddress, ip], [publicAddress, other, ip, other]]),
    ...["localhost", "files.example", "", "127.1", "0x7f000001", "fe80::1%lo"].map((ip) => [ip]),
  ];
  const cases = records.map((addresses, index) => {
    answers.set(`case${index}.example`, () => addresses);
    return [`http://case${index}.example/`, "forbidden_address"] as const;
  });
  await check(cases, 130);
  assert.deepEqual(resolved.length, cases.length);
  assert.deepEqual(dialled, []);
  assert.equal(await network.intruders(), 0);
});

test("a name without an address, an unknown one and a silent name server open no socket", async () => {
  answers.set("empty.example", () => []);
  answers.set("unknown.example", () => Promise.reject(new Error("ENOTFOUND")));
  answers.set("silent.example", () => new Promise(() => {}));
  assert.equal(await outcome(network, "http://empty.example/"), "network");
  assert.equal(await outcome(network, "http://unknown.example/"), "network");
  assert.equal(await outcome(network, "http://silent.example/", 50), "timeout");
  assert.deepEqual(dialled, []);
});

test("200 flips of a name between outside and inside: what was checked is what is dialled", async () => {
  let asked = 0;
  answers.set("flip.example", () => [asked++ % 2 === 0 ? publicAddress : "127.0.0.1"]);
  const flips = Array.from({ length: 200 }, (_, index) => index % 2 === 0);
  const url = "http://flip.example/";
  await check(
    flips.map((isOut) => [url, isOut ? "file" : "forbidden_address"] as const),
    200,
  );
  assert.equal(asked, 200);
  assert.equal(dialled.length, 100);
  await check([[url + redirect("/file").slice(1), "forbidden_address"]], 1);
  assert.ok(dialled.every(isWebsite));
  assert.equal(await network.intruders(), 0);
});

test("200 flips under other guarded calls reach only the outside too", async () => {
  let asked = 0;
  answers.set("flip.example", () => [asked++ % 2 === 0 ? publicAddress : "127.0.0.1"]);
  const options = { timeoutMs: 5_000, maxBytes: 1_000, isGuarded: true } as const;
  for (let call = 0; call < 200; call += 1) {
    const told = await network.outbound
      .send("http://flip.example/", { ...options, headers: { connection: "close" } })
      .then(
        ({ body }) => body,
        (error: { failure: string }) => error.failure,
      );
    assert.equal(told, call % 2 === 0 ? "file" : "forbidden_address");
  }
  assert.ok(dialled.every(isWebsite));
  assert.equal(await network.intruders(), 0);
});
