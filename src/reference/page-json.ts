import { html } from "./page-html.ts";
import type { Html } from "./page-html.ts";

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g;

/** JSON with its keys, strings and other values told apart. */
export function json(value: unknown): Html {
  const text = JSON.stringify(value, null, 2);
  const parts: (Html | string | undefined)[] = [];
  let at = 0;
  for (const { 0: found, 1: string, 2: colon, index } of text.matchAll(token)) {
    const kind = colon ? "key" : string ? "string" : "literal";
    parts.push(text.slice(at, index), html`<span class="${kind}">${string ?? found}</span>`, colon);
    at = index + found.length;
  }
  return html`<pre><code>${parts}${text.slice(at)}</code></pre>`;
}
