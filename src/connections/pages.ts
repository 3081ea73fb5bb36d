import { hash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { Html, html } from "../http/index.ts";
import { failures } from "./connect.ts";
import type { Failure } from "./connect.ts";

// Small pages for people: no script, one style, and nothing in them that was not escaped here.

const style = `
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 16px/1.6 system-ui, sans-serif; }
main { max-width: 32rem; padding: 2rem; }
h1 { margin: 0 0 1rem; font-size: 1.4rem; line-height: 1.3; }
strong { overflow-wrap: anywhere; }
form { display: flex; gap: 0.75rem; margin-top: 1.5rem; }
button { padding: 0.5rem 1.1rem; font: inherit; cursor: pointer; }
`;

// Made here, because the policy allows this very text.
const styleElement = new Html(`<style>${style}</style>`);

/** `formTargets`: where the page's form may lead, redirects included, because browsers hold the policy against those too. */
async function send(
  reply: FastifyReply,
  { title, body, formTargets = ["'none'"] }: { title: string; body: Html; formTargets?: string[] },
): Promise<void> {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", style, "base64")}'`,
    "base-uri 'none'",
    `form-action ${formTargets.join(" ")}`,
    "frame-ancestors 'none'",
  ];
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`;
  await reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", policy.join("; "))
    .send(page.text);
}

export interface Question {
  platform: string;
  /** The function that takes the answer, beside the one that asks. */
  action: string;
  token: string;
  userId: string;
  userLabel: string;
  returnTo: string | null;
}

export async function sendQuestion(reply: FastifyReply, question: Question): Promise<void> {
  const { platform, action, token, userId, userLabel, returnTo } = question;
  const body = html` <p>
      This was asked for in another browser. If you go on, your ${platform} account is attached to
      the Herald user <strong><bdi>${userLabel}</bdi></strong> (<bdi>${userId}</bdi>), who can then
      publish with it.
    </p>
    <p>If that is not you, or if somebody sent you here, say no.</p>
    <form method="post" action="${action}">
      <input type="hidden" name="token" value="${token}" />
      <button name="answer" value="no">No, stop here</button>
      <button name="answer" value="yes">Yes, connect my account</button>
    </form>`;
  const formTargets = ["'self'", ...(returnTo === null ? [] : [new URL(returnTo).origin])];
  await send(reply, { title: `Connect your ${platform} account?`, body, formTargets });
}

/** For those who gave no address to go back to. */
export async function sendOutcome(
  reply: FastifyReply,
  platform: string,
  failure: Failure | "declined" | null,
): Promise<void> {
  const why = failure === null || failure === "declined" ? "" : failures[failure];
  const title =
    failure === null ? `Your ${platform} account is connected` : "No account was connected";
  await send(reply, { title, body: html`<p>${why} You can close this window.</p>` });
}
