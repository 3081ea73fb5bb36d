import { randomUUID } from "node:crypto";
import { testApp } from "./app.ts";
import type { Settings } from "./app.ts";

export const keys = ["fk_first_key", "fk_second_key"] as const;

/** The fields that tests look at, of whatever kind it is. */
export interface Item {
  documentId: string;
  title: string;
  content: string;
  createdAt: string;
  used: boolean;
  networkPost: unknown;
}

export interface Answered<Data> {
  status: number;
  headers: Record<string, unknown>;
  body: {
    success?: boolean;
    ok?: boolean;
    id?: string;
    message?: string;
    documentId?: string;
    next?: string | null;
    data: Data;
    participants?: Record<string, unknown>[];
    error?: { code: string; type: string; details?: { field: string; code: string }[] };
  };
}

/** A body that is accepted, for each function. */
export const sampleOf = (businessId: string): Record<string, Record<string, unknown>> => ({
  createPost: {
    businessId,
    participantId: "ada",
    title: "A title",
    content: "Some content",
    networkPost: { text: "As on the network" },
    networkPostId: "urn:li:share:1",
    metadata: { mood: "good" },
    createdAt: "2026-05-04T03:02:01+02:00",
  },
  createCompanyNetworkPost: {
    businessId,
    documentId: "urn:li:activity:1",
    content: "Some content",
    createdAt: "2026-05-04T03:02:01Z",
    url: "https://network.example/1",
    used: false,
    exclude: false,
  },
  getParticipants: { businessId },
  getNetworkPost: { businessId, documentId: "urn:li:activity:1" },
  getUnusedNetworkPost: { businessId },
  updateNetworkPost: { businessId, documentId: "urn:li:activity:1", used: true },
  getCompanyById: { businessId },
  updateUserPersona: {
    parentDocId: businessId,
    subDocId: "ada",
    updates: {
      role: "Founder",
      themes: [{ type: "story", description: "How it began" }],
      values: ["Clarity"],
      personality: ["Calm"],
      writingTechniques: ["Short sentences"],
    },
  },
  upsertCompany: {
    businessId,
    name: "Engines & Sons",
    url: "https://engines.example",
    description: "They make engines",
    details: { size: 3 },
  },
  upsertParticipant: {
    businessId,
    participantId: "ada",
    name: "Ada",
    persona: { role: "Founder" },
  },
  claimNetworkPost: { businessId },
  listPosts: { businessId, limit: 20, cursor: "00000000-0000-4000-8000-000000000000" },
  listNetworkPosts: { businessId, limit: 20, cursor: "urn:li:activity:1" },
});

export const contractNames = [
  "createPost",
  "createCompanyNetworkPost",
  "getParticipants",
  "getNetworkPost",
  "getUnusedNetworkPost",
  "updateNetworkPost",
  "getCompanyById",
  "updateUserPersona",
] as const;

/** The app with two functions keys and no limit, unless told. */
export async function businessScene(settings: Settings = {}) {
  const test = await testApp({
    FUNCTIONS_KEYS: keys.join(","),
    RATE_LIMIT_FUNCTIONS_MAX: "0",
    ...settings,
  });
  async function call<Data = Item>(
    name: string,
    payload: object | string,
    headers: Record<string, string | string[]> = {},
  ): Promise<Answered<Data>> {
    const answer = await test.app.inject({
      method: "POST",
      url: `/functions/${name}`,
      headers: { "x-api-key": keys[0], "content-type": "application/json", ...headers },
      payload,
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
  }
  return { ...test, call, newBusiness: () => `business-${randomUUID()}` };
}

export type BusinessScene = Awaited<ReturnType<typeof businessScene>>;
