import type { JsonSchema, OpenApiDocument } from "./openapi-document.ts";
import type { Side } from "./openapi-schemas.ts";
import { html, inline, pairs } from "./page-html.ts";
import type { Html } from "./page-html.ts";
import { itemsOf, limitsOf, opened, typeOf, variantsOf } from "./page-schema.ts";

/** An object somewhere inside a schema: the value itself, an item of it, or one of its forms. */
interface Form {
  suffix: string;
  schema: JsonSchema;
  seen: readonly string[];
}

interface Place {
  path: string;
  side: Side;
  seen: readonly string[];
}

function formsOf(
  document: OpenApiDocument,
  given: JsonSchema | boolean | undefined,
  at: Omit<Form, "schema">,
): Form[] {
  if (typeof given !== "object") return [];
  // A shape inside itself is shown once.
  if (given.$ref !== undefined && at.seen.includes(given.$ref)) return [];
  const seen = given.$ref === undefined ? at.seen : [...at.seen, given.$ref];
  const schema = opened(document, given);
  const variants = variantsOf(schema);
  if (variants) {
    const forms = variants.flatMap((variant) => formsOf(document, variant, { ...at, seen }));
    const shapes = Map.groupBy(forms, (form) => JSON.stringify(form.schema));
    return [...shapes.values()].flatMap(([first]) => first ?? []);
  }
  if (schema.properties) return [{ ...at, seen, schema }];
  const items = formsOf(document, itemsOf(schema), { suffix: `${at.suffix}[]`, seen });
  return [
    ...items,
    ...formsOf(document, schema.additionalProperties, { suffix: `${at.suffix}.*`, seen }),
  ];
}

/** A form is known by the field whose value only it has. */
function titleOf({ schema }: Form, index: number): string {
  const fixed = Object.entries(schema.properties ?? {}).find(
    ([, field]) => typeof field === "object" && field.const !== undefined,
  );
  if (!fixed) return schema.title ?? `Form ${index + 1}`;
  const [name, field] = fixed;
  return `Where \`${name}\` is \`${JSON.stringify((field as JsonSchema).const)}\``;
}

function formRows(document: OpenApiDocument, { schema, suffix, seen }: Form, place: Place): Html[] {
  const prefix = place.path === "" && suffix === "" ? "" : `${place.path}${suffix}.`;
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const { description = "" } = opened(document, field);
    const isRequired = schema.required?.includes(name) ?? false;
    const row = html`<tr>
      <th scope="row">
        <code>${parent(prefix)}${name}</code>
        <span class="type">${typeOf(document, field)} ${flag(place.side, isRequired)}</span>
      </th>
      <td>
        ${inline(description)}
        ${limitsOf(document, field).map((limit) => html`<span class="limit">${inline(limit)}</span> `)}
      </td>
    </tr>`;
    return [row, ...rowsOf(document, field, { ...place, path: `${prefix}${name}`, seen })];
  });
}

/** A long path may break after its dots, and nowhere else. */
function parent(prefix: string): Html[] {
  return prefix.split(/(?<=\.)/).map((part) => html`<span class="parent">${part}</span><wbr />`);
}

/** A reader asks of a request what must be sent, and of an answer what may be missing. */
function flag(side: Side, isRequired: boolean): Html | string {
  if (side === "input") return isRequired ? html`<span class="flag">required</span>` : "";
  return isRequired ? "" : "may be absent";
}

function rowsOf(document: OpenApiDocument, schema: JsonSchema | boolean, place: Place): Html[] {
  const forms = formsOf(document, schema, { suffix: "", seen: place.seen });
  return forms.flatMap((form, index) => {
    const rows = formRows(document, form, place);
    if (forms.length === 1) return rows;
    const title = html`<tr class="form">
      <th scope="rowgroup" colspan="2">${inline(titleOf(form, index))}</th>
    </tr>`;
    return [title, ...rows];
  });
}

/** The fields of a schema, those of objects inside it below their own. What has no fields is said in a line. */
export function fields(document: OpenApiDocument, schema: JsonSchema, side: Side): Html {
  const rows = rowsOf(document, schema, { path: "", side, seen: [] });
  if (rows.length > 0) return pairs(["Field", "Description"], rows);
  return html`<p class="type">${typeOf(document, schema)}</p>`;
}
