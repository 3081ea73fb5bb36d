import { z } from "zod";
import type { Call } from "../call.ts";
import { apiRefusal } from "./linkedin-refusals.ts";
import type { Refusal } from "./linkedin-refusals.ts";

const maxTextLength = 3000;

/** The error code of a field is the message of its rule; these two are for the rules that name none. */
const ordinaryError = ({ input }: { input: unknown }): string =>
  input === undefined ? "MISSING_FIELD" : "INVALID_VALUE_FOR_FIELD";

const problems: Record<string, string> = {
  MISSING_FIELD: "field is required but not found and has no default value",
  INVALID_VALUE_FOR_FIELD: "value is not allowed",
  INVALID_VALUE_BLANK_FIELD: "value must not be blank",
  INVALID_URN_TYPE: "is not a person or organization urn",
  INVALID_URN_ID: "has an invalid id",
  FIELD_LENGTH_TOO_LONG: `length must be at most ${maxTextLength} characters`,
  INVALID_URL: "is not a valid http or https address",
  INVALID_IMAGE_ID: "is not an uploaded image",
  INVALID_VIDEO_ID: "is not an uploaded video",
};

const author = z
  .string()
  .regex(/^urn:li:(person|organization):/, { error: "INVALID_URN_TYPE", abort: true })
  .regex(/^urn:li:(person:[\w-]+|organization:\d+)$/, "INVALID_URN_ID");

/** Counted in UTF-16 units; zod's own `max` counts code points. */
const text = z
  .string()
  .refine(({ length }) => length <= maxTextLength, { error: "FIELD_LENGTH_TOO_LONG", abort: true });
const caption = z.strictObject({ text: z.string() });
const entry = {
  status: z.literal("READY"),
  title: caption.optional(),
  description: caption.optional(),
};

/** An asset has to be uploaded first, and there is no way yet to upload one. */
const uploaded = (errorCode: string): z.ZodType<string> =>
  z.string().refine(() => false, errorCode);
const withAssets = <C extends string>(category: C, asset: z.ZodType<string>) =>
  z.strictObject({
    shareCommentary: z.strictObject({ text }),
    shareMediaCategory: z.literal(category),
    media: z.array(z.strictObject({ ...entry, media: asset })).min(1),
  });

const shareContent = z.discriminatedUnion(
  "shareMediaCategory",
  [
    z.strictObject({
      shareCommentary: z.strictObject({ text: text.regex(/\S/, "INVALID_VALUE_BLANK_FIELD") }),
      shareMediaCategory: z.literal("NONE"),
      media: z.tuple([]).optional(),
    }),
    z.strictObject({
      shareCommentary: z.strictObject({ text }),
      shareMediaCategory: z.literal("ARTICLE"),
      media: z.tuple([
        z.strictObject({
          ...entry,
          originalUrl: z.url({ protocol: /^https?$/, error: "INVALID_URL" }),
        }),
      ]),
    }),
    withAssets("IMAGE", uploaded("INVALID_IMAGE_ID")),
    withAssets("VIDEO", uploaded("INVALID_VIDEO_ID")),
  ],
  {
    error: ({ code, input }) =>
      code === "invalid_union"
        ? ordinaryError({ input: (input as { shareMediaCategory?: unknown }).shareMediaCategory })
        : undefined,
  },
);

const ugcPost = z.strictObject({
  author,
  lifecycleState: z.literal("PUBLISHED"),
  specificContent: z.strictObject({ "com.linkedin.ugc.ShareContent": shareContent }),
  visibility: z.strictObject({
    "com.linkedin.ugc.MemberNetworkVisibility": z.enum(["PUBLIC", "CONNECTIONS"]),
  }),
});

export type UgcPost = z.infer<typeof ugcPost>;

export function readUgcPost(call: Call): UgcPost {
  if (call.headers["x-restli-protocol-version"] !== "2.0.0") {
    throw apiRefusal(400, 'The header "X-Restli-Protocol-Version" must be "2.0.0"');
  }
  if (!/^application\/json\b/i.test(call.headers["content-type"] ?? "")) {
    throw apiRefusal(415, "The content type of the request must be application/json");
  }
  const body = call.json();
  if (body === undefined) throw apiRefusal(400, "The request body is not valid JSON");
  const parsed = ugcPost.safeParse(body, { error: ordinaryError, reportInput: true });
  if (!parsed.success) throw invalidFields(parsed.error);
  return parsed.data;
}

function invalidFields({ issues }: z.ZodError): Refusal {
  const inputErrors = issues.map((issue) => {
    const unknownKeys = issue.code === "unrecognized_keys" ? [issue.keys.join(",")] : [];
    const fieldPath = `/${[...issue.path, ...unknownKeys].join("/")}`;
    const description = `ERROR :: ${fieldPath} :: ${problems[issue.message]}`;
    return { description, input: { inputPath: { fieldPath } }, code: issue.message };
  });
  return apiRefusal(400, inputErrors.map(({ description }) => description).join("\n"), {
    ...(inputErrors[0] && { code: inputErrors[0].code }),
    errorDetailType: "com.linkedin.common.error.BadRequest",
    errorDetails: { inputErrors },
  });
}
