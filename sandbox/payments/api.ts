import { z } from "zod";
import type { Call } from "../call.ts";
import type { Decision, Frame } from "../service.ts";
import { apiVersions } from "./events.ts";
import { expand } from "./expand.ts";
import { parseForm, readParams } from "./form.ts";
import { earlierReply, keepReply, keyOf, whileBusy } from "./idempotency.ts";
import { Refusal, unauthorized } from "./refusals.ts";
import { during, newId } from "./state.ts";
import type { Payments } from "./state.ts";
import { catchUp } from "./timeline.ts";

export const secretKey = "sk_test_sandbox";

const path = z
  .string()
  .refine((dotted) => dotted.split(".").length <= 4, "You cannot expand more than 4 levels");
const expansion = z.object({ expand: z.array(path).default([]) });

interface Endpoint<T> {
  /** Below `/v1`. */
  path: string;
  /** In the journal, after `payments.`. */
  name: string;
  shape: z.ZodType<T>;
}

type Act<T> = (input: T, id: string) => object;

/** How the resources are written: what an endpoint takes, and what it does. */
export interface Api {
  get<T>(endpoint: Endpoint<T>, look: Act<T>): void;
  post<T>(endpoint: Endpoint<T>, act: Act<T>): void;
  delete<T>(endpoint: Endpoint<T>, act: Act<T>): void;
}

/** What Stripe has and this twin does not is refused in Stripe's words too. */
export function unknownRoutes({ app, operation }: Frame, prefix: string): void {
  const decide = (call: Call): Decision =>
    refusing(call, () => {
      const place = `${call.method}: ${call.path.split("?")[0]}`;
      const message = `Unrecognized request URL (${place}).`;
      throw new Refusal(404, { type: "invalid_request_error", message });
    });
  app.all(`${prefix}/*`, operation("payments.unknown", decide));
}

export function apiOf({ app, operation, read }: Frame, payments: Payments, prefix: string): Api {
  return {
    get: (endpoint, look) => {
      const decide = (call: Call): Decision => answer(payments, call, endpoint, look);
      app.get(prefix + endpoint.path, read(`payments.${endpoint.name}`, decide));
    },
    post: (endpoint, act) => {
      const decide = (call: Call): Promise<Decision> => once(payments, call, endpoint, act);
      app.post(prefix + endpoint.path, operation(`payments.${endpoint.name}`, decide));
    },
    delete: (endpoint, act) => {
      const decide = (call: Call): Decision => answer(payments, call, endpoint, act);
      app.delete(prefix + endpoint.path, operation(`payments.${endpoint.name}`, decide));
    },
  };
}

/** A request with a key is carried out once and answered the same ever after. */
async function once<T>(
  payments: Payments,
  call: Call,
  endpoint: Endpoint<T>,
  act: Act<T>,
): Promise<Decision> {
  const first = refusing(call, () => {
    authorize(call);
    const key = keyOf(call);
    const reply = key === undefined ? undefined : earlierReply(payments, key, call);
    if (!reply) return undefined;
    const headers = { "idempotent-replayed": "true", "original-request": reply.requestId };
    return {
      accepted: false,
      status: reply.status,
      headers,
      body: reply.body,
      notes: ["replayed"],
    };
  });
  if (first) return first;
  return await whileBusy(payments, keyOf(call), () => answer(payments, call, endpoint, act));
}

function answer<T>(payments: Payments, call: Call, { shape }: Endpoint<T>, act: Act<T>): Decision {
  const requestId = newId("req");
  const decide = (): Decision => {
    authorize(call);
    const { expand: paths, ...params } = parseForm(
      call.method === "POST" ? call.form() : call.query,
    );
    const input = readParams(shape, params);
    const { expand: asked } = readParams(expansion, paths === undefined ? {} : { expand: paths });
    payments.origin = new URL(call.baseUrl).origin;
    catchUp(payments);
    const request = { id: requestId, idempotency_key: keyOf(call) ?? null };
    const object = during(payments, { request }, () => act(input, call.params["id"] ?? ""));
    const remoteId = "id" in object ? { remoteId: String(object.id) } : {};
    return { accepted: true, status: 200, body: expand(payments, object, asked), ...remoteId };
  };
  const decision = refusing(call, decide, requestId);
  const key = keyOf(call);
  if (key !== undefined) {
    keepReply(payments, key, call, { status: decision.status, body: decision.body, requestId });
  }
  return decision;
}

/** Every answer names its request and its version, a refusal in Stripe's envelope too. */
function refusing<T extends Decision | undefined>(
  call: Call,
  decide: () => T,
  requestId = newId("req"),
): T | Decision {
  const version = call.headers["stripe-version"] ?? apiVersions.dahlia;
  const names = { "request-id": requestId, "stripe-version": String(version) };
  try {
    const decision = decide();
    return decision && { ...decision, headers: { ...names, ...decision.headers } };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const body = error.envelope(requestId);
    return { accepted: false, status: error.status, headers: names, body };
  }
}

function authorize({ headers, tokenExpired }: Call): void {
  const [scheme, credentials = ""] = (headers.authorization ?? "").split(" ");
  const key =
    scheme?.toLowerCase() === "basic"
      ? Buffer.from(credentials, "base64").toString().split(":")[0]
      : credentials;
  if (!key) {
    throw unauthorized(
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    );
  }
  const shown = `${key.slice(0, 8)}${"*".repeat(Math.max(0, key.length - 12))}${key.slice(-4)}`;
  if (tokenExpired) throw unauthorized(`Expired API Key provided: ${shown}`, "api_key_expired");
  if (key !== secretKey) throw unauthorized(`Invalid API Key provided: ${shown}`);
}
