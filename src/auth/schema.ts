import { z } from "zod";

const keyName = z.string().min(1).max(100).describe("A label of your own");
const timestamp = z.iso.datetime();

export const createKeyBody = z.strictObject({ name: keyName.optional() });
export const createKeyAnswer = z.object({
  apiKey: z.string().describe("The key. It is shown this once and stored nowhere."),
});

export const keyParams = z.object({
  id: z.string().min(1).max(200).describe("The SHA-256 of the key, in hex"),
});
export const revokeKeyAnswer = z.object({ revoked: z.literal(true) });

export const listKeysAnswer = z.object({
  keys: z.array(
    z.object({
      id: z.string(),
      name: z.string().nullable(),
      createdAt: timestamp,
      revokedAt: timestamp.nullable(),
      tokenPreview: z.string().describe("Prefix, asterisks and the last four characters"),
    }),
  ),
});

export const meAnswer = z.object({
  userId: z.string(),
  keyId: z.string(),
  keyName: z.string().nullable(),
  tier: z.string().describe("The rate tier your requests count in"),
});
