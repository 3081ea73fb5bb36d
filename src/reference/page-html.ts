import { Html, html } from "../http/index.ts";

// What the page is made of.
export { Html, html };

/** Plain text, with `code` between backticks. */
export function inline(text: string): Html[] {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

export function paragraphs(text: string): Html[] {
  return text.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>`);
}

/** A table of two columns, which on a narrow screen become one. */
export function pairs([left, right]: [string, string], rows: Html[]): Html {
  return html`<table class="pairs">
    <thead>
      <tr>
        <th scope="col">${left}</th>
        <th scope="col">${right}</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}
