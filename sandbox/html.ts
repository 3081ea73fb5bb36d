import type { Answer } from "./answer.ts";

/** Markup that is safe to send: made by the `html` tag only. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function render(value: unknown): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(render).join("");
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Escapes every value put into it, except markup made by the same tag (or lists of it). */
export function html(strings: TemplateStringsArray, ...values: unknown[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(render)));
}

export function page(title: string, content: Html): Answer {
  const document = html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>${title}</title>
      <style>
        body {
          font: 15px/1.5 system-ui;
          margin: 2rem auto;
          max-width: 70rem;
          padding: 0 1rem;
        }
        table {
          border-collapse: collapse;
        }
        th,
        td {
          border-bottom: 1px solid #ccc;
          padding: 0.2rem 0.8rem 0.2rem 0;
          text-align: left;
          vertical-align: top;
        }
      </style>
      <h1>${title}</h1>
      ${content}
    </html>`;
  return {
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: document.text,
  };
}
