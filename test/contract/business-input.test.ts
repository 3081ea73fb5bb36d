import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { changedTables, watchTraces } from "../helpers/traces.ts";
import { businessScene, sampleOf } from "../helpers/business.ts";

// The same cases each time; another seed gives others: SEED=1 npm test -- test/contract/business-input.test.ts
const seed = Number(process.env["SEED"] ?? 20_300_101);
const { app, owner, call, newBusiness } = await businessScene();

interface JsonSchema {
  type?: string;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
}
interface Document {
  paths: Record<
    string,
    { post?: { requestBody?: { content: Record<string, { schema: JsonSchema }> } } }
  >;
}

const { paths } = (await app.inject("/openapi.json")).json<Document>();
const schemaOf = (name: string): JsonSchema =>
  paths[`/functions/${name}`]?.post?.requestBody?.content["application/json"]?.schema ?? {};

const values: Record<string, unknown[]> = {
  null: [null],
  boolean: [true],
  integer: [7],
  number: [1.5],
  string: ["text"],
  array: [[], ["x"]],
  object: [{}, { a: 1 }],
};

function wrongFor({ type, anyOf = [] }: JsonSchema): unknown[] {
  const types = new Set([type, ...anyOf.map((each) => each.type)]);
  return Object.entries(values).flatMap(([each, samples]) => (types.has(each) ? [] : samples));
}

/** The same object with one of its fields changed, at a dotted path; undefined takes it out. */
type Body = Record<string, unknown>;
function withField(body: Body, [name = "", ...rest]: string[], value: unknown): Body {
  const inner = rest.length > 0 ? withField(body[name] as Body, rest, value) : value;
  const { [name]: _before, ...others } = body;
  return inner === undefined ? others : { ...others, [name]: inner };
}

function* faultsOf(schema: JsonSchema, path: string[] = []): Generator<[string[], unknown]> {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const at = [...path, name];
    if (schema.required?.includes(name)) yield [at, undefined];
    for (const wrong of wrongFor(property)) yield [at, wrong];
    yield* faultsOf(property, at);
  }
}

const samples = sampleOf(newBusiness());
samples["upsertParticipant"] = {
  ...samples["upsertParticipant"],
  persona: (samples["updateUserPersona"] as { updates: unknown }).updates,
};
const look = await watchTraces(owner);

for (const [name, body] of Object.entries(samples)) {
  test(`${name}: each missing, wrongly typed or unknown field is 400 by its name, and nothing is written`, async (t) => {
    const before = await look();
    const faults = [...faultsOf(schemaOf(name))];
    assert.ok(faults.length >= 9 * Object.keys(body).length - 9, `${faults.length} faults`);
    t.diagnostic(`${faults.length} faults`);
    for (const [path, value] of [...faults, [["extra"], 1] as const]) {
      const answer = await call(name, withField(body, [...path], value));
      const field = `body.${path.join(".")}`;
      assert.equal(answer.status, 400, `${field} is ${JSON.stringify(value)}`);
      const fields = answer.body.error?.details?.map((detail) => detail.field);
      assert.deepEqual(new Set(fields), new Set([field]), JSON.stringify(value));
    }
    assert.deepEqual(changedTables(before, await look()), []);
    // The sample itself is right, so each of the faults was the only one.
    assert.notEqual((await call(name, body)).status, 400);
  });
}

const long = "x".repeat(100_001);
const persona = (updates: unknown) => ({ ...samples["updateUserPersona"], updates });
const refused: [name: string, body: object | string, field: string][] = [
  ["createPost", { ...samples["createPost"], content: long }, "body.content"],
  ["createPost", { ...samples["createPost"], networkPost: long }, "body.networkPost"],
  [
    "createPost",
    { ...samples["createPost"], metadata: { a: long, b: long, c: long } },
    "body.metadata",
  ],
  [
    "createPost",
    { ...samples["createPost"], metadata: { a: [{ prototype: 1 }] } },
    "body.metadata.a.0.prototype",
  ],
  [
    "createPost",
    JSON.stringify(samples["createPost"]).replace('"good"', "1e400"),
    "body.metadata.mood",
  ],
  ...[
    "yesterday",
    "2026-05-04",
    "2026-02-30T00:00:00Z",
    "2026-05-04T03:02:01",
    "0000-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    "",
  ].map((createdAt): (typeof refused)[number] => [
    "createPost",
    { ...samples["createPost"], createdAt },
    "body.createdAt",
  ]),
  [
    "createCompanyNetworkPost",
    { ...samples["createCompanyNetworkPost"], url: "javascript:alert(1)" },
    "body.url",
  ],
  [
    "createCompanyNetworkPost",
    { ...samples["createCompanyNetworkPost"], documentId: "x".repeat(201) },
    "body.documentId",
  ],
  ["updateUserPersona", persona({}), "body.updates"],
  ["updateUserPersona", persona({ themes: [{ type: "a" }] }), "body.updates.themes.0.description"],
  [
    "updateUserPersona",
    persona({ themes: [{ type: 1, description: "b" }] }),
    "body.updates.themes.0.type",
  ],
  ["updateUserPersona", persona({ themes: ["a"] }), "body.updates.themes.0"],
  [
    "updateUserPersona",
    persona({ themes: [{ type: "a", description: "b", c: 1 }] }),
    "body.updates.themes.0.c",
  ],
  ["updateUserPersona", persona({ values: [1] }), "body.updates.values.0"],
  ["updateUserPersona", persona({ prototype: {} }), "body.updates.prototype"],
  [
    "updateUserPersona",
    persona({ tone: { deep: [{ prototype: {} }] } }),
    "body.updates.tone.deep.0.prototype",
  ],
  ["updateUserPersona", persona({ id: "other" }), "body.updates.id"],
  ["updateUserPersona", persona({ businessId: "other" }), "body.updates.businessId"],
  ...["__proto__", "constructor"].flatMap((key): typeof refused => [
    ["updateUserPersona", JSON.stringify(persona({ [`${key}!`]: 1 })).replace("!", ""), "body"],
    [
      "updateUserPersona",
      JSON.stringify(persona({ a: [{ [`${key}!`]: 1 }] })).replace("!", ""),
      "body",
    ],
  ]),
];

test("what is too large, too late or not allowed anywhere is 400 by its name, and nothing is written", async () => {
  const before = await look();
  for (const [name, body, field] of refused) {
    const answer = await call(name, body);
    assert.equal(answer.status, 400, field);
    const fields = answer.body.error?.details?.map((detail) => detail.field);
    assert.ok(fields?.includes(field), `${field} in ${JSON.stringify(fields)}`);
  }
  assert.deepEqual(changedTables(before, await look()), []);
});

test("a persona that would outgrow its limit is refused, and stays as it was", async () => {
  const businessId = newBusiness();
  const append = async () =>
    await call("updateUserPersona", {
      parentDocId: businessId,
      subDocId: "ada",
      updates: { values: Array.from({ length: 10 }, () => "x".repeat(10_000)) },
    });
  assert.deepEqual([(await append()).status, (await append()).status], [200, 200]);
  const { status, body } = await append();
  assert.deepEqual([status, body.ok, body.error?.code], [400, false, "validation_error"]);
  const { participants } = (await call("getParticipants", { businessId })).body;
  assert.equal((participants?.[0]?.["values"] as string[] | undefined)?.length, 20);
});

const anything = fc.jsonValue({ stringUnit: "binary", maxDepth: 4 });
const fieldNames = [
  ...new Set(Object.values(samples).flatMap(Object.keys)),
  "prototype",
  "toString",
  "",
];
const names = fc.constantFrom(...Object.keys(samples));
/** Right in most of its fields, so that many bodies get as far as the database. */
const generated = fc.record({
  name: names,
  odd: fc.dictionary(fc.constantFrom(...fieldNames), anything, { maxKeys: 2 }),
  own: fc.dictionary(fc.string({ unit: "binary", maxLength: 10 }), anything, { maxKeys: 4 }),
  taken: fc.option(fc.constantFrom(...fieldNames), { freq: 5 }),
  isBare: fc.boolean(),
});

test("2,000 generated bodies: none is answered with 500", async (t) => {
  const counts: Record<number, number> = {};
  const property = fc.asyncProperty(generated, async ({ name, odd, own, taken, isBare }) => {
    const sample = samples[name] ?? {};
    const free = { metadata: own, details: own, updates: own, persona: own, networkPost: own };
    const fitting = Object.entries(free).filter(([field]) => field in sample);
    const { [taken ?? ""]: _taken, ...body } = {
      ...sample,
      ...Object.fromEntries(fitting),
      ...odd,
    };
    const { status } = await call(name, isBare ? JSON.stringify(odd) : body);
    counts[status] = (counts[status] ?? 0) + 1;
    assert.ok([200, 201, 400, 404].includes(status), `${status}`);
  });
  await fc.assert(property, { seed, numRuns: 2_000 });
  t.diagnostic(JSON.stringify(counts));
  assert.ok((counts[200] ?? 0) + (counts[201] ?? 0) > 100, "many get as far as the database");
});
