import { AppError } from "../errors.ts";
import { OutboundError } from "../outbound/index.ts";
import type { Answer, Send } from "../outbound/index.ts";
import type { Forwarded } from "./schema.ts";

export interface Workflow {
  url: string;
  verifiesCertificate: boolean;
}

const timeoutMs = 10_000;
// Of its answer only the status counts.
const maxBytes = 65_536;

const failed = (cause?: unknown, details?: Record<string, unknown>): AppError =>
  new AppError("upstream_error", "The workflow endpoint did not take it", { cause, details });

async function call(send: Send, workflow: Workflow, payload: Forwarded): Promise<Answer> {
  try {
    return await send(workflow.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(payload),
      timeoutMs,
      maxBytes,
      // The contract, of this one connection: it does not verify the remote certificate.
      ...(!workflow.verifiesCertificate && { acceptsAnyCertificate: true }),
    });
  } catch (error) {
    throw error instanceof OutboundError ? failed(error) : error;
  }
}

/** Once: a workflow that may have started is not started again. A redirect is an answer like any other but 2xx. */
export async function forward(
  send: Send,
  workflow: Workflow | null,
  payload: Forwarded,
): Promise<number> {
  if (!workflow) throw new AppError("service_unavailable", "No workflow endpoint is set up here");
  const { status } = await call(send, workflow, payload);
  if (status < 200 || status > 299) throw failed(undefined, { upstreamStatus: status });
  return status;
}
