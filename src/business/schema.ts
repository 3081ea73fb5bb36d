import { z } from "zod";
import { freeForm, freeObject, maxFreeBytes } from "./free-form.ts";

const id = z.string().min(1).max(200);
const text = z.string().min(1).max(100_000);
const url = z.url({ protocol: /^https?$/ }).max(8_192);
const timestamp = z.iso.datetime();
// Of what is no time at all the year is NaN: that is refused as such.
const isFarOff = (year: number): boolean => year < 0 || year > 9_999;
const createdAt = z.iso
  .datetime({ offset: true })
  .refine((time) => !isFarOff(new Date(time).getUTCFullYear()), {
    message: "The year has four digits, in UTC too",
    params: { code: "invalid_string" },
  })
  .describe("With a zone. Left out: now");
const free = freeObject.describe(`Fields of your own, up to ${maxFreeBytes} bytes as JSON`);

const business = { businessId: id };
const page = {
  limit: z.int().min(1).max(100).default(20),
  cursor: id.optional().describe("`next` of the page before"),
};
const success = z.literal(true);

export const businessBody = z.strictObject(business);
export const documentBody = z.strictObject({ ...business, documentId: id });
export const postsBody = z.strictObject({
  ...business,
  limit: page.limit,
  cursor: z.uuid().optional(),
});
export const networkPostsBody = z.strictObject({ ...business, ...page });

export const postBody = z.strictObject({
  ...business,
  participantId: id,
  title: z.string().min(1).max(1_000),
  content: text,
  networkPost: z
    .union([text, free])
    .describe("The post as the network knows it, kept as it is given"),
  networkPostId: id,
  metadata: free.optional(),
  createdAt: createdAt.optional(),
});
export const post = z.object({
  id: z.uuid(),
  businessId: z.string(),
  participantId: z.string(),
  title: z.string(),
  content: z.string(),
  networkPost: z.union([z.string(), z.looseObject({})]),
  networkPostId: z.string(),
  metadata: z.looseObject({}).nullable(),
  createdAt: timestamp,
});
export const postAnswer = z.object({ success, id: z.uuid(), data: post });
export const postsAnswer = z.object({ success, data: z.array(post), next: z.uuid().nullable() });

export const networkPostBody = z.strictObject({
  ...business,
  documentId: id.describe("The network's identifier of the activity"),
  content: text,
  createdAt: createdAt.optional().describe("With a zone. Left out: as it was, or now"),
  url: url.optional(),
  used: z.boolean().optional().describe("Left out: as it was, or false"),
  exclude: z.boolean().optional().describe("Left out: as it was, or false"),
});
export const useBody = documentBody.extend({ used: z.boolean() });
export const networkPost = z.object({
  businessId: z.string(),
  documentId: z.string(),
  content: z.string(),
  url: z.string().nullable(),
  used: z.boolean(),
  exclude: z.boolean(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export const storedAnswer = z.object({
  success,
  message: z.string(),
  documentId: z.string(),
  data: networkPost,
});
export const networkPostAnswer = z.object({ success, data: networkPost });
export const unusedAnswer = z.object({
  success,
  data: networkPost.nullable().describe("Null where none is left"),
});
export const networkPostsAnswer = z.object({
  success,
  data: z.array(networkPost),
  next: z.string().nullable(),
});

export const companyBody = z.strictObject({
  ...business,
  name: z.string().min(1).max(300).optional(),
  url: url.optional(),
  description: text.optional(),
  details: free.optional(),
});
export const company = z.object({
  businessId: z.string(),
  name: z.string().nullable(),
  url: z.string().nullable(),
  description: z.string().nullable(),
  details: z.looseObject({}).nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export const companyAnswer = z.object({ success, data: company });

const theme = z.strictObject({
  type: z.string().min(1).max(2_000),
  description: z.string().min(1).max(10_000),
});
const entries = z
  .array(z.union([z.string().min(1).max(10_000), z.record(z.string(), z.unknown())]))
  .max(1_000);
const lists = {
  themes: z.array(theme).max(1_000),
  values: entries,
  personality: entries,
  writingTechniques: entries,
};

// A participant is shown with its persona's fields beside these.
const ownFields = ["id", "businessId", "createdAt", "updatedAt"];
const persona = freeForm(
  z
    .looseObject({ role: z.string().max(10_000).nullable(), ...lists })
    .partial()
    .superRefine((fields, context) => {
      for (const name of ownFields.filter((name) => Object.hasOwn(fields, name)))
        context.addIssue({
          code: "custom",
          path: [name],
          message: "This is no field of the persona",
          params: { code: "unrecognized_keys" },
        });
    }),
);
const limit = `A persona takes up to ${maxFreeBytes} bytes as JSON.`;

export const personaBody = z.strictObject({
  parentDocId: id.describe("The business"),
  subDocId: id.describe("The participant"),
  updates: persona
    .refine((updates) => Object.keys(updates).length > 0, "Give at least one field")
    .describe(
      `\`themes\`, \`values\`, \`personality\` and \`writingTechniques\` are appended to what is there; every other field replaces it. ${limit}`,
    ),
});
export const personaAnswer = z.object({ ok: success });

export const participantBody = z.strictObject({
  ...business,
  participantId: id,
  name: z.string().min(1).max(300).optional(),
  persona: persona.optional().describe(`Each field replaces what is there, lists too. ${limit}`),
});
export const participant = z.looseObject({
  id: z.string(),
  businessId: z.string(),
  role: z.string().nullable(),
  themes: z.array(z.unknown()),
  values: z.array(z.unknown()),
  personality: z.array(z.unknown()),
  writingTechniques: z.array(z.unknown()),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export const participantAnswer = z.object({ success, data: participant });
export const participantsAnswer = z.object({ success, participants: z.array(participant) });

export const forwardBody = z.strictObject({
  uid: id.describe("Your own user id; admins may name any"),
  businessId: id,
  networkUrl: url,
  metadataName: id,
});
export const forwardAnswer = z.object({
  success,
  status: z.int().describe("What the workflow endpoint answered"),
});

export type PostBody = z.output<typeof postBody>;
export type Post = z.output<typeof post>;
export type NetworkPostBody = z.output<typeof networkPostBody>;
export type NetworkPost = z.output<typeof networkPost>;
export type CompanyBody = z.output<typeof companyBody>;
export type Company = z.output<typeof company>;
export type Participant = z.output<typeof participant>;
export type Forwarded = z.output<typeof forwardBody>;
