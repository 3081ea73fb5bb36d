import { statusOfCode } from "../errors.ts";
import type { OpenApiDocument } from "./openapi-document.ts";
import { errorCodes, errorExamples } from "./openapi-errors.ts";
import { commonErrors } from "./openapi-facts.ts";
import { errorTable } from "./page-answers.ts";
import { fields } from "./page-fields.ts";
import { html } from "./page-html.ts";
import type { Html } from "./page-html.ts";
import { json } from "./page-json.ts";

/** The contract's tiers, with the limits that hold where a deployment sets no others. */
export const tiers = [
  {
    name: "default",
    appliesTo: "no credential, or one that is not valid",
    limit: 25,
    burst: 10,
    countedBy: "address",
  },
  {
    name: "authenticated",
    appliesTo: "a valid credential, no active subscription",
    limit: 60,
    burst: 30,
    countedBy: "user",
  },
  {
    name: "premium",
    appliesTo: "a subscription that is active or on trial",
    limit: 100,
    burst: 100,
    countedBy: "user",
  },
  {
    name: "admin",
    appliesTo: "listed users and addresses",
    limit: 200,
    burst: 500,
    countedBy: "user or address",
  },
] as const;

interface Chapter {
  id: string;
  title: string;
  content: (document: OpenApiDocument) => Html;
}

const start: Chapter = {
  id: "start",
  title: "Getting started",
  content: ({ servers }) => html`
    <p>
      Requests and answers are JSON in UTF-8. A request with a body says
      <code>Content-Type: application/json</code> and is at most 1 MB. A field that is not described
      here is refused, so that a typo never goes unnoticed.
    </p>
    <p>
      The API is at
      ${servers.map(({ url }, index) => html`${index > 0 ? ", " : ""}<code>${url}</code>`)}.
    </p>
    <p>
      Each answer names its request in <code>X-Request-ID</code>: the id you sent, or one made for
      you. Keep it with your logs; it is how a single request is found again.
    </p>
  `,
};

const authentication: Chapter = {
  id: "authentication",
  title: "Authentication",
  content: () => html`
    <p>
      Your programs send an API key in the header <code>svc-api-key</code>. Keys begin with
      <code>sk_live_</code>, are shown once when they are made, and belong in that header only:
      never in an address or a body. Using the API needs a subscription that is active or on trial.
    </p>
    <p>
      Keys themselves are managed by a signed-in user, with an ID token in
      <code>Authorization: Bearer</code>. A revoked key stops working at once.
    </p>
    <p>
      Without a valid credential the answer is 401 <code>unauthorized</code>; with a valid one that
      does not allow the request, 403 <code>forbidden</code>.
    </p>
  `,
};

const limits: Chapter = {
  id: "rate-limits",
  title: "Rate limits",
  content: () => html`
    <p>
      Requests are counted in a sliding minute, by tier. A window allows the limit and the burst
      together; these are the standard values:
    </p>
    <div class="wide">
      <table>
        <thead>
          <tr>
            ${["Tier", "For", "Per minute", "Burst", "Counted by"].map((heading) => html`<th scope="col">${heading}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${tiers.map(
            (tier) =>
              html`<tr>
                <th scope="row"><code>${tier.name}</code></th>
                <td>${tier.appliesTo}</td>
                <td>${tier.limit}</td>
                <td>${tier.burst}</td>
                <td>${tier.countedBy}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p>
      Some calls have a limit of their own beside the tier's, shown with the call.
      <code>X-RateLimit-Limit</code>, <code>-Remaining</code>, <code>-Reset</code> and
      <code>-Tier</code> on each answer tell where you stand, always for the limit with the fewest
      requests left. Over a limit the answer is 429; wait the seconds in <code>Retry-After</code>.
    </p>
  `,
};

const idempotency: Chapter = {
  id: "idempotency",
  title: "Idempotency",
  content: () => html`
    <p>
      Send an <code>Idempotency-Key</code> with each POST below <code>/v1</code>, one per thing you
      want done, and repeat the request as often as you must: it is carried out once. For 24 hours a
      repeat with the same key and body gets the first answer again, marked
      <code>Idempotency-Replayed: true</code>.
    </p>
    <p>
      The same key with another body is 409 <code>idempotency_conflict</code>. Refused and failed
      requests are not kept, so a corrected one may use the same key. Without a key of yours, one is
      derived from <code>X-Request-ID</code> and the body; either way the answer tells it.
    </p>
  `,
};

const errors: Chapter = {
  id: "errors",
  title: "Errors",
  content: (document) => html`
    <p>
      All errors have one shape. Decide by <code>code</code>; the message is for people and may
      change.
    </p>
    ${json(errorExamples["validation_error"]?.value)}
    ${fields(document, { $ref: "#/components/schemas/ErrorBody" }, "output")}
    <h3 id="common-errors">Common errors</h3>
    <p>Any request can be answered with one of these.</p>
    ${errorTable(commonErrors)}
    <h3>All codes</h3>
    ${errorTable(errorCodes.toSorted((one, other) => statusOfCode[one] - statusOfCode[other]))}
  `,
};

/** What holds for every call, before the calls themselves. */
export const chapters: readonly Chapter[] = [start, authentication, limits, idempotency, errors];
