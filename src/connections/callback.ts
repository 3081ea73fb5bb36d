import { timingSafeEqual } from "node:crypto";
import { inTransaction } from "../db/index.ts";
import type { Db } from "../db/index.ts";
import { AppError } from "../errors.ts";
import type { PlatformAdapter } from "../platforms/index.ts";
import { connect } from "./connect.ts";
import type { Failure } from "./connect.ts";
import type { ConnectionDeps } from "./deps.ts";
import { providerOf } from "./provider.ts";
import { saveAccount } from "./queries.ts";
import { newSecret } from "./start.ts";
import { saveState, takeState } from "./state-queries.ts";
import type { PendingConnection } from "./state-queries.ts";

/** The browser that came to us. */
export interface Visitor {
  /** Who is signed in there, if anybody. */
  userId: string | null;
  /** The hash of its binding cookie, if it has one. */
  browserHash: string | null;
  /** Gives it one. */
  bind(): string;
  audit(db: Db, entry: { actor: string; action: string; subject?: string }): Promise<void>;
}

export type Outcome =
  /** It is over; without a failure the account is connected. */
  | { kind: "over"; pending: PendingConnection; failure: Failure | null }
  /** Nothing has happened yet: a person has to say yes, and show the token with it. */
  | { kind: "ask"; pending: PendingConnection; token: string };

export interface Arrival {
  state: string;
  code?: string | undefined;
  error?: string | undefined;
}

// OAuth's word, and LinkedIn's.
const cancellations = new Set([
  "access_denied",
  "user_cancelled_login",
  "user_cancelled_authorize",
]);

async function refuse({ db }: ConnectionDeps, visitor: Visitor, message: string): Promise<never> {
  await visitor.audit(db, {
    actor: visitor.userId ?? "unknown",
    action: "account.connect.refused",
  });
  throw new AppError("forbidden", message);
}

/** Uses the state up, whoever comes with it, and goes on only for a visitor who may. */
async function take(
  deps: ConnectionDeps,
  visitor: Visitor,
  state: string,
  wanted: { provider: string; hasCode: boolean },
): Promise<PendingConnection> {
  const pending = await takeState(deps.db, deps.sealer, state, wanted);
  if (!pending)
    throw new AppError("invalid_state", "This connection is unknown, was used, or has expired");
  if (visitor.userId !== null && visitor.userId !== pending.uid)
    await refuse(deps, visitor, "This connection was started by another user");
  return pending;
}

function isSameBrowser(pending: PendingConnection, { browserHash }: Visitor): boolean {
  return (
    browserHash !== null &&
    timingSafeEqual(Buffer.from(browserHash), Buffer.from(pending.browserHash))
  );
}

async function finish(
  deps: ConnectionDeps,
  adapter: PlatformAdapter,
  visitor: Visitor,
  pending: PendingConnection & { code: string },
): Promise<Outcome> {
  const { db, sealer } = deps;
  const { uid: userId, code, codeVerifier } = pending;
  const over = (failure: Failure | null): Outcome => ({ kind: "over", pending, failure });
  const result = await connect(deps, adapter, { userId, code, codeVerifier });
  if ("failure" in result) return over(result.failure);
  await inTransaction(db, async (tx) => {
    await saveAccount(tx, sealer, result);
    const subject = `${adapter.name}/${result.profile.accountId}`;
    await visitor.audit(tx, { actor: userId, action: "account.connect", subject });
  });
  return over(null);
}

/** The platform has sent somebody back. */
export async function receive(
  deps: ConnectionDeps,
  adapter: PlatformAdapter,
  visitor: Visitor,
  { state, code, error }: Arrival,
): Promise<Outcome> {
  const provider = providerOf(adapter.name);
  const pending = await take(deps, visitor, state, { provider, hasCode: false });
  if (code === undefined || error !== undefined) {
    const isCancelled = error !== undefined && cancellations.has(error);
    return { kind: "over", pending, failure: isCancelled ? "access_denied" : "platform_error" };
  }
  if (isSameBrowser(pending, visitor))
    return await finish(deps, adapter, visitor, { ...pending, code });
  // Somebody may have been sent here with another person's state, to attach their account to that person.
  const token = newSecret();
  const asked = { ...pending, code, browserHash: visitor.bind() };
  await saveState(deps.db, deps.sealer, token, asked);
  return { kind: "ask", pending, token };
}

/** The person who was asked has answered. Null: they said no. */
export async function confirm(
  deps: ConnectionDeps,
  adapter: PlatformAdapter,
  visitor: Visitor,
  { token, isYes }: { token: string; isYes: boolean },
): Promise<Outcome | null> {
  const provider = providerOf(adapter.name);
  const pending = await take(deps, visitor, token, { provider, hasCode: true });
  const { code } = pending;
  if (code === null || !isSameBrowser(pending, visitor))
    return await refuse(deps, visitor, "This question was asked in another browser");
  return isYes ? await finish(deps, adapter, visitor, { ...pending, code }) : null;
}
