import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from "fastify";
import { send } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { factsOf, readCall } from "./call.ts";
import type { Call } from "./call.ts";
import type { Clock } from "./clock.ts";
import { carryOut } from "./effects.ts";
import type { Faults } from "./faults.ts";
import type { Journal } from "./journal.ts";
import type { Collection } from "./store.ts";

export interface Service {
  name: string;
  /** Where its routes hang, e.g. `/workflow`. */
  basePath: string;
  routes(frame: Frame): void;
}

/** `accepted`: the service took the call and its world changed (a post exists, a token was issued). */
export interface Decision extends Answer {
  accepted: boolean;
  remoteId?: string;
  notes?: string[];
}

export type Decide = (call: Call) => Decision | Promise<Decision>;

/**
 * What a service is written with: `app.post("/posts", operation("linkedin.post", decide))`.
 * Everything wrapped in `operation` or `read` is journaled and open to faults; a bare Fastify route is neither,
 * which suits pages and files that nobody's correctness rests on.
 */
export interface Frame {
  app: FastifyInstance;
  /** A call that may change the service's world. Change collections last: no waiting between that and the return. */
  operation: (name: string, decide: Decide) => RouteHandlerMethod;
  /** A call that changes nothing: journaled as not accepted, with the note `read`. */
  read: (name: string, look: (call: Call) => Answer | Promise<Answer>) => RouteHandlerMethod;
  /** What the service remembers over restarts. */
  collection: <T>(name: string) => Collection<T>;
  /** Journals, and saves the collections' changes, when the service acts on its own (a timer, a webhook it sends). */
  note: (operation: string, text: string) => Promise<void>;
  /** This world's time, for everything that ends or expires. The journal keeps the real time. */
  now: () => number;
}

export interface World {
  journal: Journal;
  faults: Faults;
  clock: Clock;
}

interface Route {
  service: Service;
  operation: string;
  isRead: boolean;
  decide: Decide;
}

/** What trickles when the service was never asked. */
const unavailable: Answer = { status: 503, body: { error: "unavailable" } };

/** `operations` collects the names, so that a fault on a misspelt one can be refused. */
export function frameOf(
  service: Service,
  app: FastifyInstance,
  world: World,
  operations: Set<string>,
): Frame {
  const route = (operation: string, isRead: boolean, decide: Decide): RouteHandlerMethod => {
    operations.add(operation);
    return async (request, reply) => {
      await serve(
        world,
        { service, operation, isRead, decide },
        readCall(request, service.basePath),
        reply,
      );
    };
  };
  return {
    app,
    operation: (name, decide) => route(name, false, decide),
    read: (name, look) =>
      route(name, true, async (call) => ({ ...(await look(call)), accepted: false })),
    collection: (name) => world.journal.store(service.name).collection(name),
    note: async (operation, text) => {
      const facts = {
        service: service.name,
        operation,
        accepted: false,
        outcome: { status: null },
        notes: [text],
      };
      await world.journal.append(facts);
    },
    now: () => world.clock.now(),
  };
}

async function serve(
  { journal, faults }: World,
  route: Route,
  call: Call,
  reply: FastifyReply,
): Promise<void> {
  const { operation, isRead } = route;
  const facts = { service: route.service.name, operation, request: factsOf(call) };
  const target = { ...facts, path: call.path, raw: call.raw };
  const notes = isRead ? ["read"] : [];

  const before = faults.strike("before", target);
  if (before) notes.push(`fault ${before.id}: ${before.effect} before`);
  if (before?.effect === "delay") await faults.delay(before.ms);
  else if (before && before.effect !== "expire_token") {
    await journal.append({ ...facts, accepted: false, outcome: { status: null }, notes });
    return await carryOut(before, faults, reply, unavailable);
  }

  const decision = await decide(route, {
    ...call,
    tokenExpired: before?.effect === "expire_token",
  });
  const { accepted, status, remoteId } = decision;
  // A call that the service refused gets its refusal, and does not use up a fault meant for an accepted one.
  const after = accepted || (isRead && status < 400) ? faults.strike("after", target) : undefined;
  if (after) notes.push(`fault ${after.id}: ${after.effect} after`);
  notes.push(...(decision.notes ?? []));
  await journal.append({
    ...facts,
    accepted,
    outcome: { status, ...(remoteId && { remoteId }) },
    notes,
  });
  await (after ? carryOut(after, faults, reply, decision) : send(reply, decision));
}

async function decide(route: Route, call: Call): Promise<Decision> {
  try {
    return await route.decide(call);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { accepted: false, status: 500, body: { error: "the sandbox failed" }, notes: [text] };
  }
}
