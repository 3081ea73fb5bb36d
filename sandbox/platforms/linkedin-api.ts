import { randomUUID } from "node:crypto";
import type { Call } from "../call.ts";
import type { Decision } from "../service.ts";
import { memberOf } from "./linkedin-people.ts";
import type { Member } from "./linkedin-people.ts";
import { accessDenied, apiRefusal, refusing } from "./linkedin-refusals.ts";
import { hasScope, statusOf } from "./linkedin-state.ts";
import type { LinkedIn, Token } from "./linkedin-state.ts";

export interface Caller {
  member: Member;
  token: Token;
}

interface Resource {
  /** As LinkedIn names it in a refusal, e.g. `ugcPosts.CREATE`. */
  name: string;
  scope: string;
}

/** A call with a bearer token: who calls and what they may do is settled before the resource is asked. */
export function apiCall(
  linkedin: LinkedIn,
  resource: Resource,
  act: (call: Call, caller: Caller) => Decision,
): (call: Call) => Decision {
  const decide = refusing((call) => {
    const caller = callerOf(linkedin, call);
    if (!hasScope(caller.token, resource.scope)) {
      throw accessDenied(`Not enough permissions to access: ${resource.name}.NO_VERSION`);
    }
    return act(call, caller);
  });
  return (call) => {
    const decision = decide(call);
    const id = randomUUID();
    const tracing = { "x-li-uuid": id, "x-li-request-id": id, "x-li-fabric": "sandbox" };
    return { ...decision, headers: { ...tracing, ...decision.headers } };
  };
}

function callerOf(linkedin: LinkedIn, call: Call): Caller {
  const value = /^Bearer\s+(\S+)$/i.exec(call.headers.authorization ?? "")?.[1];
  if (value === undefined) throw unauthorized("EMPTY", 65_600, "Empty oauth2 access token");
  const token = linkedin.tokens.get(value);
  const member = memberOf(token?.memberId ?? "");
  if (token?.kind !== "access" || !member) {
    throw unauthorized("INVALID", 65_601, "Invalid access token");
  }
  const status = call.tokenExpired ? "expired" : statusOf(linkedin, token);
  if (status === "revoked") {
    const message = "The token used in the request has been revoked by the user";
    throw unauthorized("REVOKED", 65_601, message);
  }
  if (status === "expired") throw unauthorized("EXPIRED", 65_602, "Expired access token");
  return { member, token };
}

function unauthorized(what: string, serviceErrorCode: number, message: string): Error {
  return apiRefusal(401, message, { code: `${what}_ACCESS_TOKEN`, serviceErrorCode });
}
