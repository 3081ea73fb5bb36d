import type { Answer } from "../answer.ts";
import { html } from "../html.ts";
import type { Html } from "../html.ts";

const style = html`<style>
  :root {
    color-scheme: light dark;
    --back: #f4f2ee;
    --card: #ffffff;
    --line: #dfdeda;
    --text: #1d1d1b;
    --quiet: #63625e;
    --accent: #0a66c2;
    --on-accent: #ffffff;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --back: #161616;
      --card: #1f2326;
      --line: #363b40;
      --text: #ececea;
      --quiet: #a3a6a9;
      --accent: #71b7fb;
      --on-accent: #0b1a29;
    }
  }
  * {
    box-sizing: border-box;
  }
  body {
    background: var(--back);
    color: var(--text);
    font:
      15px/1.5 system-ui,
      sans-serif;
    margin: 0;
  }
  a {
    color: var(--accent);
    text-decoration: none;
  }
  a:hover {
    text-decoration: underline;
  }
  header {
    background: var(--card);
    border-bottom: 1px solid var(--line);
  }
  header > div,
  main {
    margin: 0 auto;
    max-width: 36rem;
    padding: 0.75rem 1rem;
  }
  header a {
    align-items: baseline;
    display: flex;
    font-size: 1.1rem;
    font-weight: 700;
    gap: 0.5rem;
  }
  header small {
    background: var(--back);
    border-radius: 1rem;
    color: var(--quiet);
    font-size: 0.7rem;
    font-weight: 600;
    padding: 0.1rem 0.6rem;
  }
  .card {
    background: var(--card);
    border: 1px solid var(--line);
    border-radius: 0.6rem;
    margin: 0.75rem 0;
    overflow: hidden;
    padding: 1rem;
  }
  .card h1 {
    font-size: 1.35rem;
    line-height: 1.3;
    margin: 0 0 0.25rem;
  }
  .who {
    align-items: center;
    display: flex;
    gap: 0.75rem;
    line-height: 1.35;
  }
  .who small,
  .quiet {
    color: var(--quiet);
    font-size: 0.8rem;
  }
  .who small {
    display: block;
  }
  .avatar {
    align-items: center;
    background: hsl(var(--hue) 45% 38%);
    border-radius: 50%;
    color: #ffffff;
    display: flex;
    flex: none;
    font-weight: 600;
    height: 3rem;
    justify-content: center;
    letter-spacing: 0.03em;
    width: 3rem;
  }
  .text {
    margin: 0.75rem 0;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  .text b {
    color: var(--accent);
    font-weight: 600;
  }
  .article {
    background: var(--back);
    border: 1px solid var(--line);
    border-radius: 0.4rem;
    display: block;
    margin: 0.75rem 0;
    overflow-wrap: anywhere;
    padding: 0.6rem 0.8rem;
  }
  footer {
    border-top: 1px solid var(--line);
    display: flex;
    flex-wrap: wrap;
    gap: 0.25rem 1rem;
    justify-content: space-between;
    padding-top: 0.6rem;
  }
  code {
    color: var(--quiet);
    font-size: 0.75rem;
    overflow-wrap: anywhere;
  }
  fieldset {
    border: 0;
    margin: 1rem 0;
    padding: 0;
  }
  legend {
    font-weight: 600;
    padding: 0;
  }
  label.who {
    border: 1px solid var(--line);
    border-radius: 0.6rem;
    cursor: pointer;
    margin-top: 0.5rem;
    padding: 0.6rem 0.8rem;
  }
  label.who:has(:checked) {
    border-color: var(--accent);
    outline: 1px solid var(--accent);
  }
  input[type="radio"] {
    accent-color: var(--accent);
    margin-left: auto;
    order: 1;
  }
  ul {
    margin: 0.25rem 0 1rem;
    padding-left: 1.2rem;
  }
  .buttons {
    display: flex;
    gap: 0.75rem;
  }
  button {
    background: none;
    border: 1px solid var(--accent);
    border-radius: 2rem;
    color: var(--accent);
    cursor: pointer;
    flex: 1;
    font: inherit;
    font-weight: 600;
    padding: 0.55rem 1.2rem;
  }
  button.main {
    background: var(--accent);
    color: var(--on-accent);
  }
  button.link {
    border: 0;
    flex: none;
    font-size: 0.8rem;
    font-weight: 400;
    padding: 0;
  }
  :focus-visible {
    outline: 3px solid var(--accent);
    outline-offset: 2px;
  }
</style>`;

export function linkedinPage(status: number, title: string, content: Html): Answer {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title} | LinkedIn sandbox</title>
        ${style}
      </head>
      <body>
        <header>
          <div>
            <a href="/linkedin/feed">LinkedIn <small>sandbox, not the real one</small></a>
          </div>
        </header>
        <main>${content}</main>
      </body>
    </html>`;
  return {
    status,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: document.text,
  };
}
