import type { z } from "zod";
import type { Db } from "../db/index.ts";
import { AppError } from "../errors.ts";
import * as posts from "./post-queries.ts";
import * as queries from "./queries.ts";
import * as shapes from "./schema.ts";

type Act<Body, Answer> = (db: Db, body: Body, now: Date) => Promise<Answer | null>;

interface Facts {
  summary: string;
  description?: string;
  /** What stands beside `error` where a call fails. */
  errorExtras?: Record<string, unknown>;
}

export interface BusinessFunction extends Facts {
  name: string;
  status: 200 | 201;
  body: z.ZodType;
  answer: z.ZodType;
  /** Null where what is asked for does not exist. */
  act: Act<unknown, unknown>;
}

interface Spec<Body extends z.ZodType, Answer extends z.ZodType> extends Facts {
  status?: 201;
  body: Body;
  answer: Answer;
  act: Act<z.output<Body>, z.output<Answer>>;
}

function define<Body extends z.ZodType, Answer extends z.ZodType>(
  name: string,
  { act, status, ...spec }: Spec<Body, Answer>,
): BusinessFunction {
  // The route's schema has made the body what it is here.
  const acting: BusinessFunction["act"] = (db, body, now) => act(db, body as z.output<Body>, now);
  return { name, ...spec, status: status ?? 200, act: acting };
}

const success = true as const;
const found = <Data>(data: Data | null) => data && { success, data };

/** An answer about what lies below a business, where there is one. */
async function below<Answer>(
  db: Db,
  businessId: string,
  answer: () => Promise<Answer>,
): Promise<Answer | null> {
  return (await queries.findCompany(db, businessId)) && (await answer());
}

/** A page, and the cursor of the next where there is more. */
async function paged<Item>(
  { limit }: { limit: number },
  list: (limit: number) => Promise<Item[]>,
  cursorOf: (item: Item) => string,
) {
  const items = await list(limit + 1);
  const data = items.slice(0, limit);
  const last = data.at(-1);
  return { success, data, next: items.length > limit && last ? cursorOf(last) : null };
}

/** A persona that still fits after what `field` adds to it. */
function fitting<Data>(participant: Data | null, field: string): Data {
  if (participant) return participant;
  const message = "The persona would become too large";
  throw new AppError("validation_error", message, {
    details: [{ field, message, code: "too_big" }],
  });
}

export const functions: readonly BusinessFunction[] = [
  define("createPost", {
    summary: "Keep a post of a business",
    status: 201,
    body: shapes.postBody,
    answer: shapes.postAnswer,
    async act(db, body, now) {
      await queries.ensureBusiness(db, body.businessId);
      const data = await posts.createPost(db, body, now);
      return { success, id: data.id, data };
    },
  }),
  define("listPosts", {
    summary: "List the posts of a business",
    description: "Newest first.",
    body: shapes.postsBody,
    answer: shapes.postsAnswer,
    act: async (db, { businessId, ...page }) =>
      await below(db, businessId, async () => {
        const list = (limit: number) => posts.listPosts(db, businessId, { ...page, limit });
        return await paged(page, list, ({ id }) => id);
      }),
  }),
  define("createCompanyNetworkPost", {
    summary: "Keep a company's post on the network",
    description: "Makes it, or changes the one with this `documentId`.",
    status: 201,
    body: shapes.networkPostBody,
    answer: shapes.storedAnswer,
    async act(db, body, now) {
      await queries.ensureBusiness(db, body.businessId);
      const data = await posts.saveNetworkPost(db, body, now);
      const message = "The company network post is saved";
      return { success, message, documentId: data.documentId, data };
    },
  }),
  define("getNetworkPost", {
    summary: "A company's post on the network",
    body: shapes.documentBody,
    answer: shapes.networkPostAnswer,
    act: async (db, { businessId, documentId }) =>
      found(await posts.findNetworkPost(db, businessId, documentId)),
  }),
  define("listNetworkPosts", {
    summary: "List a company's posts on the network",
    description: "Newest first.",
    body: shapes.networkPostsBody,
    answer: shapes.networkPostsAnswer,
    act: async (db, { businessId, ...page }) =>
      await below(db, businessId, async () => {
        const list = (limit: number) => posts.listNetworkPosts(db, businessId, { ...page, limit });
        return await paged(page, list, ({ documentId }) => documentId);
      }),
  }),
  define("getUnusedNetworkPost", {
    summary: "The oldest post that is neither used nor excluded",
    description:
      "Changes nothing: two callers may get the same one. `claimNetworkPost` takes it for one of them.",
    body: shapes.businessBody,
    answer: shapes.unusedAnswer,
    act: async (db, { businessId }) =>
      await below(db, businessId, async () => ({
        success,
        data: await posts.findUnused(db, businessId),
      })),
  }),
  define("claimNetworkPost", {
    summary: "Take the oldest post that is neither used nor excluded",
    description: "It is marked as used in the same step: no two callers ever get the same one.",
    body: shapes.businessBody,
    answer: shapes.unusedAnswer,
    act: async (db, { businessId }) =>
      await below(db, businessId, async () => ({
        success,
        data: await posts.claimUnused(db, businessId),
      })),
  }),
  define("updateNetworkPost", {
    summary: "Say whether a company's post was used",
    body: shapes.useBody,
    answer: shapes.networkPostAnswer,
    act: async (db, { businessId, documentId, used }) =>
      found(await posts.markUsed(db, businessId, documentId, used)),
  }),
  define("getCompanyById", {
    summary: "What is known of a business",
    body: shapes.businessBody,
    answer: shapes.companyAnswer,
    act: async (db, { businessId }) => found(await queries.findCompany(db, businessId)),
  }),
  define("upsertCompany", {
    summary: "Make or change a business",
    description: "What is left out stays as it is.",
    body: shapes.companyBody,
    answer: shapes.companyAnswer,
    act: async (db, body) => found(await queries.saveCompany(db, body)),
  }),
  define("getParticipants", {
    summary: "The participants of a business",
    body: shapes.businessBody,
    answer: shapes.participantsAnswer,
    act: async (db, { businessId }) =>
      await below(db, businessId, async () => ({
        success,
        participants: await queries.listParticipants(db, businessId),
      })),
  }),
  define("upsertParticipant", {
    summary: "Make or change a participant",
    description: "What is left out stays as it is.",
    body: shapes.participantBody,
    answer: shapes.participantAnswer,
    async act(db, { businessId, participantId, name, persona }) {
      await queries.ensureBusiness(db, businessId);
      const fields = { ...persona, ...(name !== undefined && { name }) };
      const saved = await queries.saveParticipant(db, businessId, participantId, fields);
      return { success, data: fitting(saved, "body.persona") };
    },
  }),
  define("updateUserPersona", {
    summary: "Add to a participant's persona",
    errorExtras: { ok: false },
    body: shapes.personaBody,
    answer: shapes.personaAnswer,
    async act(db, { parentDocId, subDocId, updates }) {
      await queries.ensureBusiness(db, parentDocId);
      const updated = await queries.appendToPersona(db, parentDocId, subDocId, updates);
      fitting(updated, "body.updates");
      return { ok: success };
    },
  }),
];
