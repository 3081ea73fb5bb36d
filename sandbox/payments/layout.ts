import type { Answer } from "../answer.ts";
import type { Call } from "../call.ts";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import type { Decision } from "../service.ts";
import { magicCards } from "./cards.ts";
import type { Payments } from "./state.ts";
import { catchUp } from "./timeline.ts";

const style = html`<style>
  :root {
    color-scheme: light dark;
    --line: light-dark(#d9dce3, #3a3f4b);
    --quiet: light-dark(#5b6270, #a5abb8);
    --accent: light-dark(#4f46e5, #a5a0ff);
    --on-accent: light-dark(#ffffff, #16152b);
  }
  body {
    font:
      16px/1.5 system-ui,
      sans-serif;
    margin: 3rem auto;
    max-width: 32rem;
    padding: 0 1rem;
  }
  section,
  form {
    border: 1px solid var(--line);
    border-radius: 0.6rem;
    margin: 1rem 0;
    padding: 1rem 1.25rem;
  }
  label {
    display: block;
    margin: 0.75rem 0;
  }
  input:not([type="radio"]),
  select {
    border: 1px solid var(--line);
    border-radius: 0.4rem;
    box-sizing: border-box;
    display: block;
    font: inherit;
    padding: 0.45rem 0.6rem;
    width: 100%;
  }
  button {
    background: none;
    border: 1px solid var(--line);
    border-radius: 0.4rem;
    cursor: pointer;
    font: inherit;
    margin: 0.25rem 0.5rem 0.25rem 0;
    padding: 0.45rem 1rem;
  }
  button.main {
    background: var(--accent);
    border-color: var(--accent);
    color: var(--on-accent);
  }
  a {
    color: var(--accent);
  }
  small {
    color: var(--quiet);
  }
  [role="alert"] {
    color: light-dark(#b42318, #ff9d94);
  }
</style>`;

export function paymentPage(status: number, title: string, content: Html): Answer {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        ${style}
      </head>
      <body>
        <small>Sandbox payments: no money moves here</small>
        <h1>${title}</h1>
        ${content}
      </body>
    </html>`;
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
  return { status, headers, body: document.text };
}

export function cardField(): Html {
  return html`<label>
    Card number
    <input name="card" inputmode="numeric" list="cards" value="4242 4242 4242 4242" />
    <datalist id="cards">
      ${[...magicCards].map(([number, { label }]) => html`<option value="${number}">${label}</option>`)}
    </datalist>
    <small> ${[...magicCards].map(([number, { label }]) => html`${number} ${label}<br />`)} </small>
  </label>`;
}

export function alert(message: string | undefined): Html {
  return message === undefined ? html`` : html`<p role="alert">${message}</p>`;
}

export function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}

export function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** A page shows the world as it is now, and changes it only when somebody decides something. */
export function onPage(
  payments: Payments,
  decide: (call: Call) => Answer & Partial<Decision>,
): (call: Call) => Decision {
  return (call) => {
    payments.origin = new URL(call.baseUrl).origin;
    catchUp(payments);
    return { accepted: false, ...decide(call) };
  };
}

export function sendTo(address: string): Answer {
  return { status: 303, headers: { location: address } };
}

export function notFound(what: string): Answer {
  return paymentPage(404, "Not found", html`<p>There is no such ${what}.</p>`);
}
