import type { Call } from "../call.ts";
import type { Decision } from "../service.ts";

/** Thrown by the check that fails, sent as the answer. */
export class Refusal extends Error {
  readonly decision: Decision;

  constructor(decision: Omit<Decision, "accepted">) {
    super(`refused with ${decision.status}`);
    this.decision = { accepted: false, ...decision };
  }
}

export function refusing(decide: (call: Call) => Decision): (call: Call) => Decision {
  return (call) => {
    try {
      return decide(call);
    } catch (error) {
      if (error instanceof Refusal) return error.decision;
      throw error;
    }
  };
}

export interface ApiErrorFacts {
  code?: string;
  serviceErrorCode?: number;
  errorDetailType?: string;
  errorDetails?: unknown;
}

/** The shape of every error under `/v2` and `/rest`. */
export function apiRefusal(status: number, message: string, facts: ApiErrorFacts = {}): Refusal {
  return new Refusal({ status, body: { ...facts, message, status } });
}

export function accessDenied(message: string): Refusal {
  return apiRefusal(403, message, { code: "ACCESS_DENIED", serviceErrorCode: 100 });
}

export function oauthRefusal(status: number, error: string, description: string): Refusal {
  return new Refusal({ status, body: { error, error_description: description } });
}

export function missingParameter(name: string): Refusal {
  return oauthRefusal(400, "invalid_request", `A required parameter "${name}" is missing`);
}
