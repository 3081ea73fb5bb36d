import type { Node } from "@takumi-rs/core";
import { z } from "zod";
import { leading, letterWidth, typeset } from "../code-lines.ts";
import { commonImages, commonKeys } from "../keys.ts";
import { palette } from "../palette.ts";
import { box, column, page, row, safeArea, signature, signatureHeight } from "../parts.ts";
import type { Template } from "../template.ts";
import type { Style } from "../typography.ts";
import { body, display, inRatio, stack } from "../typography.ts";

// The window keeps its own colours, as an editor does on any desktop.
const frame = { fill: "#0f131c", bar: "#1a202d", text: "#e6eaf2", muted: "#8b95a9" };
const lights = ["#ff5f57", "#febc2e", "#28c840"];
const fontFamily = "JetBrains Mono";
/** Code shows the signs that were typed, not the one sign that a ligature makes of them. */
const fontFeatureSettings = '"calt" 0, "liga" 0';
const barHeight = 76;
const pad = 44;

const config = z.strictObject({
  code: z.string().min(1).max(2_000).describe("The code; its line breaks and spaces are kept"),
  title: z.string().max(300).optional().describe("What it shows, above the window"),
  filename: z.string().max(60).optional().describe("Name of the file, in the window's bar"),
  ...commonKeys,
});

export const codeSnippet: Template<typeof config> = {
  slug: "code-snippet",
  title: "Code snippet",
  description: "Code in an editor's window, with line numbers",
  version: 1,
  config,
  images: commonImages,
  example: {
    title: "Ask for both at once,\nwait only once",
    filename: "load.ts",
    code: "const [user, posts] = await Promise.all([\n  fetchUser(id),\n  fetchPosts(id),\n]);\n\nif (posts.length === 0) {\n  return welcome(user);\n}\n\nreturn timeline(user, posts);",
    handle: "@typescript.daily",
  },
  async layout(config, canvas) {
    const colours = palette(config, { background: "#0b7285", to: "#1b3a8f", accent: "#63e6be" });
    const { width, height } = safeArea(canvas);
    const signed = await signature(config, canvas, colours, width);
    const titleHeight = height * 0.2;
    const title = await stack(canvas, { width, height: titleHeight }, [
      { text: config.title, min: 34, max: [72, 80, 92], style: display(colours.text) },
    ]);
    const inner = width - 2 * pad;
    const taken = title.length * (titleHeight + 40) + signed.length * signatureHeight;
    const room = height - taken - barHeight - 2 * pad;
    const area = { width: inner, height: room, maxSize: inRatio(canvas, [36, 38, 40]) };
    const { size, gutter, lines } = typeset(config.code, area);
    const print = async (width: number, texts: string[], style: Style): Promise<Node> => ({
      ...(await canvas.fit(texts.join("\n"), {
        width,
        height: Math.ceil(lines.length * size * leading) + 1,
        minSize: size,
        maxSize: size,
        style: {
          fontFamily,
          fontFeatureSettings,
          whiteSpace: "pre",
          lineHeight: leading,
          ...style,
        },
      })),
      dir: "ltr",
    });
    const numbers = lines.map(({ number }) => number);
    const code = lines.map((line) => line.code);
    const name = await stack(canvas, { width: inner - 160, height: 44 }, [
      { text: config.filename, min: 20, max: 26, style: body(frame.muted, { fontFamily }) },
    ]);
    const shape: Style = {
      width,
      borderRadius: 28,
      overflow: "hidden",
      backgroundColor: frame.fill,
      boxShadow: "0 32px 90px rgba(0, 0, 0, 0.35)",
    };
    const editor = column(shape, [
      row({ height: barHeight, padding: `0 ${pad}px`, gap: 14, backgroundColor: frame.bar }, [
        ...lights.map((color) =>
          box({ width: 22, height: 22, borderRadius: 11, backgroundColor: color }),
        ),
        box({ marginLeft: 20 }, name),
      ]),
      row({ padding: pad, justifyContent: "space-between" }, [
        await print(gutter, numbers, { color: frame.muted, textAlign: "right" }),
        await print(inner - gutter - size * letterWidth * 2, code, { color: frame.text }),
      ]),
    ]);
    return page(config, canvas, colours, {
      text: config.title ?? "",
      children: [
        ...title,
        column({ flexGrow: 1, justifyContent: "center" }, [{ ...editor, dir: "ltr" }]),
        ...signed,
      ],
    });
  },
};
