import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { send } from "./answer.ts";
import { controlBody, issuesOf, refuse } from "./control-body.ts";
import type { Issue } from "./control-body.ts";
import { faultRule } from "./faults.ts";
import { html, page } from "./html.ts";
import type { Html } from "./html.ts";
import type { Service, World } from "./service.ts";

export interface Mounted {
  service: Service;
  operations: ReadonlySet<string>;
}

const journalQuery = z.strictObject({
  service: z.string().optional(),
  operation: z.string().optional(),
  accepted: z
    .enum(["true", "false"])
    .transform((word) => word === "true")
    .optional(),
  after: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(1000).optional(),
});

const tenYearsMs = 10 * 365 * 24 * 60 * 60 * 1000;
const clockMove = z.strictObject({ advanceMs: z.int().min(1).max(tenYearsMs) });

/** `/_sandbox`: how tests and people look into this world and disturb it. */
export function controlRoutes(
  app: FastifyInstance,
  world: World,
  mounted: readonly Mounted[],
): void {
  const { journal, faults, clock } = world;
  app.get("/_sandbox/journal", async (request, reply) => {
    const query = journalQuery.safeParse(request.query);
    if (!query.success) return await refuse(reply, "invalid query", issuesOf(query.error));
    return journal.find(query.data);
  });

  app.post("/_sandbox/faults", async (request, reply) => {
    const rule = await controlBody(faultRule, "fault rule", request, reply);
    if (!rule) return;
    // A rule that can never strike would let a test pass for the wrong reason.
    const issues = unknownNames(rule, mounted);
    if (issues.length > 0) return await refuse(reply, "invalid fault rule", issues);
    return await send(reply, { status: 201, body: faults.add(rule) });
  });

  app.get("/_sandbox/faults", () => ({ faults: faults.list() }));
  app.delete("/_sandbox/faults", () => faults.end());

  const time = (): { now: string } => ({ now: new Date(clock.now()).toISOString() });
  app.get("/_sandbox/clock", time);
  app.post("/_sandbox/clock", async (request, reply) => {
    const move = await controlBody(clockMove, "clock move", request, reply);
    if (!move) return;
    clock.advance(move.advanceMs);
    await send(reply, { status: 200, body: time() });
  });
  app.delete("/_sandbox/clock", () => {
    clock.reset();
    return time();
  });

  app.get("/_sandbox", async (request, reply) => {
    await send(reply, page("Sandbox", overview(`http://${request.host}`, world, mounted)));
  });
}

function unknownNames(
  rule: { service: string; operation?: string | undefined },
  mounted: readonly Mounted[],
): Issue[] {
  const found = mounted.find(({ service }) => service.name === rule.service);
  if (!found) {
    return [
      {
        field: "service",
        message: `must be one of ${mounted.map(({ service }) => service.name).join(", ")}`,
      },
    ];
  }
  if (rule.operation === undefined || found.operations.has(rule.operation)) return [];
  return [{ field: "operation", message: `must be one of ${[...found.operations].join(", ")}` }];
}

function overview(url: string, { journal, faults }: World, mounted: readonly Mounted[]): Html {
  const entries = journal.latest(50);
  return html`<h2>Services</h2>
    <ul>
      ${mounted.map(
        ({ service, operations }) =>
          html`<li>
            <b>${service.name}</b> ${url}${service.basePath} (${[...operations].join(", ")})
          </li>`,
      )}
    </ul>
    <h2>Active faults</h2>
    <ul>
      ${faults.list().map((fault) => html`<li><code>${JSON.stringify(fault)}</code></li>`)}
    </ul>
    <h2>Last calls</h2>
    <table>
      <tr>
        <th>seq</th>
        <th>at</th>
        <th>operation</th>
        <th>request</th>
        <th>accepted</th>
        <th>status</th>
        <th>notes</th>
      </tr>
      ${entries.map(
        ({ seq, at, operation, request, accepted, outcome, notes }) =>
          html`<tr>
            <td>${seq}</td>
            <td>${at}</td>
            <td>${operation}</td>
            <td>${request ? `${request.method} ${request.path}` : ""}</td>
            <td>${accepted ? "yes" : "no"}</td>
            <td>${outcome.status ?? ""}</td>
            <td>${notes.join("; ")}</td>
          </tr>`,
      )}
    </table>`;
}
