import type { Node } from "@takumi-rs/core";
import type { z } from "zod";

export const ratios = {
  "1:1": { width: 1080, height: 1080 },
  "4:5": { width: 1080, height: 1350 },
  "9:16": { width: 1080, height: 1920 },
} as const;

export type Ratio = keyof typeof ratios;

export interface Canvas {
  ratio: Ratio;
  width: number;
  height: number;
  /** Text in the largest size that fits its box; cut with an ellipsis where even the smallest does not. */
  fit(text: string, box: TextBox): Promise<Node>;
}

export interface TextBox {
  width: number;
  height: number;
  minSize: number;
  maxSize: number;
  style?: Node["style"];
}

/** One kind of picture. A file of its own in `designs/`, and a line in `designs/index.ts`. */
export interface Template<Shape extends z.ZodObject = z.ZodObject> {
  slug: string;
  title: string;
  description: string;
  /** Raised with every change of what is drawn: pictures of another version are drawn anew. */
  version: number;
  /** What may be said of a picture; flat, each key described, with a default or optional, and limited. */
  config: Shape;
  /** The keys whose values name pictures (an address or a media id). */
  images: readonly (keyof z.output<Shape> & string)[];
  /** For the preview. Names no pictures. */
  example: z.input<Shape>;
  layout(config: z.output<Shape>, canvas: Canvas): Promise<Node>;
}
