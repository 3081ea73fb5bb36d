import type { OpenApiDocument } from "./openapi-document.ts";
import { chapters } from "./page-guide.ts";
import { Html, html } from "./page-html.ts";
import { operationSection } from "./page-operation.ts";
import type { Entry } from "./page-operation.ts";
import { style } from "./page-style.ts";

// Not escaped, and to the letter: the page's policy names its hash.
const styleElement = new Html(`<style>${style}</style>`);

interface Section {
  id: string;
  name: string;
  entries: Entry[];
}

function sectionsOf(document: OpenApiDocument): Section[] {
  const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  );
  const byTag = Map.groupBy(entries, ({ operation }) => operation.tags[0] ?? "");
  return [...byTag].map(([name, entries]) => ({
    id: `about-${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`,
    name,
    entries,
  }));
}

function contents(document: OpenApiDocument, sections: Section[]): Html {
  return html`<nav aria-label="Contents">
    <p class="brand">
      <a href="#top">${document.info.title}</a> <small>${document.info.version}</small>
    </p>
    <input type="checkbox" id="menu" /><label for="menu">Contents</label>
    <div class="links">
      <h2>Guide</h2>
      <ul>
        ${chapters.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
      </ul>
      ${sections.map(
        ({ name, entries }) =>
          html`<h2>${name}</h2>
            <ul>
              ${entries.map(
                ({ method, operation }) =>
                  html`<li>
                    <a href="#${operation.operationId}"
                      ><span>${operation.summary}</span>
                      <span class="method ${method}">${method.toUpperCase()}</span></a
                    >
                  </li>`,
              )}
            </ul>`,
      )}
    </div>
  </nav>`;
}

/** The whole reference as one page that needs nothing else: no script, no font, no picture. */
export function page(document: OpenApiDocument): string {
  const sections = sectionsOf(document);
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${document.info.title} reference</title>
        ${styleElement}
      </head>
      <body id="top">
        ${contents(document, sections)}
        <main>
          <header>
            <h1>${document.info.title}</h1>
            <p class="lead">${document.info.description}</p>
            <p><a href="openapi.json">openapi.json</a> says the same for programs.</p>
          </header>
          ${chapters.map(
            ({ id, title, content }) =>
              html`<section id="${id}" class="chapter">
                <h2><a href="#${id}">${title}</a></h2>
                ${content(document)}
              </section>`,
          )}
          ${sections.map(
            ({ id, name, entries }) =>
              html`<section id="${id}">
                <h2><a href="#${id}">${name}</a></h2>
                ${entries.map((entry) => operationSection(document, entry))}
              </section>`,
          )}
        </main>
      </body>
    </html>`;
  return text;
}
