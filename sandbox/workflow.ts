import { randomUUID } from "node:crypto";
import type { Service } from "./service.ts";

/** The endpoint that starts a customer's own workflow: it takes any JSON. */
export const workflow: Service = {
  name: "workflow",
  basePath: "/workflow",
  routes({ app, operation }) {
    app.post(
      "/",
      operation("workflow.run", (call) => {
        if (call.json() === undefined)
          return { accepted: false, status: 400, body: { error: "invalid JSON" } };
        const id = randomUUID();
        return { accepted: true, status: 200, body: { received: true, id }, remoteId: id };
      }),
    );
  },
};
