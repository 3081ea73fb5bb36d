import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { quiet } from "../../test/helpers/database.ts";
import type { Lease } from "./lease.ts";
import { startPatrol } from "./patrol.ts";
import type { Pulse } from "./queries.ts";
import type { Session } from "./session.ts";

interface Scene {
  /** What a look at the database finds, round by round; the patrol is stopped after the last one. */
  looks: (Partial<Pulse> | Error)[];
  hasRoom?: boolean;
  /** The rounds before which a job began or ended. */
  progressBefore?: number[];
}

const overdue = { hasOverdue: true };
const rounds = (count: number, look: Partial<Pulse> | Error) =>
  Array.from({ length: count }, () => look);

/** Plays the scene without a clock. Returns the statements that reached the database and how often it was wedged. */
async function play({ looks, hasRoom = true, progressBefore = [] }: Scene) {
  const statements: string[] = [];
  let progress = 0;
  let wedged = 0;
  let round = 0;
  const done = Promise.withResolvers<void>();
  const newSession = (): Session => ({
    async query(statement) {
      const text = typeof statement === "string" ? statement : statement.text;
      if (!text.includes("isRegistered")) {
        statements.push(text);
        return { rows: [], rowCount: 0, command: "", oid: 0, fields: [] };
      }
      const look = looks[round - 1] ?? {};
      if (look instanceof Error) throw look;
      const pulse = { isRegistered: true, unlocked: [], held: [], hasOverdue: false, ...look };
      return { rows: [pulse as never], rowCount: 1, command: "", oid: 0, fields: [] };
    },
    sightings: new Map(),
    lost: new AbortController().signal,
    close: async () => {},
  });
  let session = newSession();
  const lease: Lease = {
    id: 1,
    async inSession(work) {
      round += 1;
      if (progressBefore.includes(round)) progress += 1;
      try {
        return await work(session);
      } catch (error) {
        session = newSession();
        throw error;
      }
    },
    async rest() {
      if (round >= looks.length) done.resolve();
      await turn();
    },
    close: async () => {},
  };
  const patrol = startPatrol({
    lease,
    tasks: ["a.b"],
    log: quiet,
    progress: () => progress,
    hasRoom: () => hasRoom,
    isHeld: (jobId) => jobId === "7",
    onDeclaredDead: () => {},
    onWedged: () => (wedged += 1),
  });
  await done.promise;
  await patrol.stop();
  return { statements, wedged };
}

const down = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const refused = Object.assign(new Error("permission denied"), { code: "42501" });

test("a worker with room and overdue jobs that begins none for 8 seconds is wedged, and says so once", async () => {
  assert.equal((await play({ looks: rounds(10, overdue) })).wedged, 0);
  assert.equal((await play({ looks: rounds(30, overdue) })).wedged, 1);
});

test("a worker that makes progress, is full, or has nothing due is not wedged", async () => {
  const slow = { looks: rounds(30, overdue), progressBefore: [8, 16, 24] };
  assert.equal((await play(slow)).wedged, 0);
  assert.equal((await play({ looks: rounds(30, overdue), hasRoom: false })).wedged, 0);
  assert.equal((await play({ looks: rounds(30, {}) })).wedged, 0);
});

test("a database that is down says nothing about the worker; one that refuses to answer does", async () => {
  assert.equal((await play({ looks: rounds(30, down) })).wedged, 0);
  assert.equal(
    (await play({ looks: [...rounds(9, overdue), down, ...rounds(9, overdue)] })).wedged,
    0,
  );
  assert.equal((await play({ looks: rounds(30, refused) })).wedged, 1);
});

test("a worker is retired when its lock was free in four looks in a row over one connection", async () => {
  const free = { unlocked: [5] };
  const isRetired = async (looks: Scene["looks"]) =>
    (await play({ looks })).statements.some((text) => text.includes("delete from workers"));
  assert.equal(await isRetired(rounds(3, free)), false);
  assert.equal(await isRetired(rounds(4, free)), true);
  assert.equal(await isRetired([free, free, free, {}, free, free, free]), false);
  assert.equal(await isRetired([free, free, free, down, free, free, free]), false);
});

test("a job that the worker has locked without knowing it, for longer than any answer takes, is given back", async () => {
  const isReturned = async (looks: Scene["looks"]) =>
    (await play({ looks })).statements.some((text) => text.includes("returned"));
  const unknown = { held: ["7", "8"] };
  assert.equal(await isReturned(rounds(7, unknown)), false);
  assert.equal(await isReturned(rounds(20, { held: ["7"] })), false);
  assert.equal(await isReturned([...rounds(7, unknown), down, ...rounds(7, unknown)]), false);
  assert.equal(await isReturned(rounds(8, unknown)), true);
});
