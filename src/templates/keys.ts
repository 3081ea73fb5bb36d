import { z } from "zod";

const colour = z
  .string()
  .regex(/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i, "Must be a colour such as #0f172a");
/** The address of a picture or the id of one of the user's media. */
export const picture = z.string().min(1).max(8_192);

/** The keys that every design has. */
export const commonKeys = {
  textColor: colour.optional().describe("Colour of the text; chosen for contrast when left out"),
  accentColor: colour
    .optional()
    .describe("The one strong colour; made lighter or darker where it could not be read"),
  backgroundColor: colour
    .optional()
    .describe("Colour of the background, or where its gradient starts"),
  backgroundTo: colour
    .optional()
    .describe(
      "Where the background's gradient ends; brought nearer if no text could be read on it",
    ),
  backgroundAngle: z
    .number()
    .min(0)
    .max(360)
    .default(160)
    .describe("Direction of the background's gradient in degrees; 180 is downwards"),
  backgroundImage: picture
    .optional()
    .describe("Picture behind everything, shaded for the text: an address or a media id"),
  logo: picture.optional().describe("Your logo: an address or a media id"),
  author: z.string().max(60).optional().describe("Name of the person or company who posts"),
  handle: z.string().max(60).optional().describe("Their handle, such as @name"),
  authorImage: picture.optional().describe("Their picture: an address or a media id"),
};
export const commonImages = ["backgroundImage", "logo", "authorImage"] as const;
export type Common = z.output<z.ZodObject<typeof commonKeys>>;
