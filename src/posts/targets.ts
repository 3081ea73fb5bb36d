import type { ErrorDetail } from "../errors.ts";
import type { PlatformName, Registry } from "../platforms/index.ts";
import type { Content } from "./schema.ts";

export interface Target {
  targetId: string;
  platform: PlatformName;
  accountId: string;
}

export interface KnownAccount {
  platform: string;
  accountId: string;
}

/** What was wrong, by kind: the contract answers the two with different codes. */
export interface TargetProblems {
  invalid: ErrorDetail[];
  missing: ErrorDetail[];
}

interface Wanted {
  field: string;
  value: string;
  accountId?: string | undefined;
  targetId?: string | undefined;
}

function wantedBy(platform: Content["platform"]): Wanted[] {
  const root = "body.post.content.platform";
  const entries = Array.isArray(platform) ? platform : [platform];
  return entries.map((entry, index) => {
    const field = Array.isArray(platform) ? `${root}.${index}` : root;
    return typeof entry === "string"
      ? { field, value: entry }
      : { ...entry, field: `${field}.platform`, value: entry.platform };
  });
}

/** Turns the three forms of `platform` into targets, one per `targetId`, with every problem named. */
export function resolveTargets(
  platform: Content["platform"],
  accounts: readonly KnownAccount[],
  registry: Registry,
): { targets: Target[]; problems: TargetProblems } {
  const targets = new Map<string, Target>();
  const problems: TargetProblems = { invalid: [], missing: [] };
  for (const wanted of wantedBy(platform)) {
    const name = registry.resolve(wanted.value);
    if (!name) {
      problems.invalid.push({
        field: wanted.field,
        message: `"${wanted.value}" is not a platform`,
        code: "invalid_enum_value",
        received: wanted.value,
      });
      continue;
    }
    const connected = accounts
      .filter((account) => account.platform === name)
      .map((account) => account.accountId);
    const accountId = wanted.accountId ?? (connected.length === 1 ? connected[0] : undefined);
    if (accountId === undefined && connected.length > 1) {
      problems.invalid.push({
        field: wanted.field,
        message: `Several ${name} accounts are connected: name one of ${connected.join(", ")} as accountId`,
        code: "account_required",
      });
    } else if (accountId === undefined || !connected.includes(accountId)) {
      const what =
        accountId === undefined
          ? `${name} is not connected`
          : `${name} account ${accountId} is not connected`;
      problems.missing.push({
        field: wanted.field,
        message: what,
        code: "missing_integration",
        received: wanted.value,
      });
    } else {
      const targetId = wanted.targetId ?? `${name}:${accountId}`;
      if (!targets.has(targetId)) targets.set(targetId, { targetId, platform: name, accountId });
    }
  }
  return { targets: [...targets.values()], problems };
}
