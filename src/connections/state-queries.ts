import { hash } from "node:crypto";
import type { Db } from "../db/index.ts";
import type { Sealer } from "../sealing.ts";

/** A connection on its way, from the start to the callback. */
export interface PendingConnection {
  uid: string;
  /** How the user is named to a person. */
  userLabel: string;
  provider: string;
  returnTo: string | null;
  browserHash: string;
  codeVerifier: string | null;
  /** There once the platform has answered and somebody is being asked whether to go on. */
  code: string | null;
}

const place = (id: string, column: string): string =>
  JSON.stringify(["connection_states", id, column]);

export async function saveState(
  db: Db,
  sealer: Sealer,
  state: string,
  pending: PendingConnection,
): Promise<void> {
  const id = hash("sha256", state);
  const sealed = (column: "codeVerifier" | "code"): string | null => {
    const value = pending[column];
    return value === null ? null : sealer.seal(value, place(id, column));
  };
  await db.query({
    name: "save_connection_state",
    text: `insert into connection_states (id, uid, user_label, provider, return_to, browser_hash, code_verifier, code)
           values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      id,
      pending.uid,
      pending.userLabel,
      pending.provider,
      pending.returnTo,
      pending.browserHash,
      sealed("codeVerifier"),
      sealed("code"),
    ],
  });
}

/**
 * Uses the state up: of any number of callers at once, one gets it. A state is good for the platform it was made for
 * only, so one platform's answer is never taken for another's (RFC 9700, 4.4).
 */
export async function takeState(
  db: Db,
  sealer: Sealer,
  state: string,
  { provider, hasCode }: { provider: string; hasCode: boolean },
): Promise<PendingConnection | undefined> {
  const id = hash("sha256", state);
  const { rows } = await db.query<PendingConnection>({
    name: "take_connection_state",
    text: `delete from connection_states
           where id = $1 and provider = $2 and (code is not null) = $3 and created_at > now() - interval '10 minutes'
           returning uid, user_label as "userLabel", provider, return_to as "returnTo",
             browser_hash as "browserHash", code_verifier as "codeVerifier", code`,
    values: [id, provider, hasCode],
  });
  const [row] = rows;
  const opened = (column: "codeVerifier" | "code"): string | null => {
    const value = row?.[column] ?? null;
    return value === null ? null : sealer.open(value, place(id, column));
  };
  return row && { ...row, codeVerifier: opened("codeVerifier"), code: opened("code") };
}

/** For the hourly job: what was started and never came back. */
export async function deleteExpiredStates(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    "delete from connection_states where created_at < now() - interval '10 minutes'",
  );
  return rowCount ?? 0;
}
