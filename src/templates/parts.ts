import type { Node } from "@takumi-rs/core";
import { inkOn, withAlpha } from "./colours.ts";
import type { Common } from "./keys.ts";
import type { Inks, Palette } from "./palette.ts";
import type { Canvas } from "./template.ts";
import { directionOf } from "./text.ts";
import type { Area, Style } from "./typography.ts";
import { body, hugging, inRatio, label, stack } from "./typography.ts";

export function box(style: Style, children: Node[] = []): Node {
  return { type: "container", style: { display: "flex", flexShrink: 0, ...style }, children };
}

export const row = (style: Style, children: Node[]): Node =>
  box({ flexDirection: "row", alignItems: "center", ...style }, children);

export const column = (style: Style, children: Node[]): Node =>
  box({ flexDirection: "column", ...style }, children);

export function image(src: string, style: Style): Node {
  return { type: "image", src, style: { objectFit: "cover", flexShrink: 0, ...style } };
}

/** Over the whole of the box around it. */
export const cover: Style = {
  position: "absolute",
  top: 0,
  left: 0,
  width: "100%",
  height: "100%",
};

/** The address of a drawing of so many units in width and height. */
export function drawing(width: number, height: number, content: string): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${content}</svg>`;
  return `data:image/svg+xml;utf8,${encodeURIComponent(svg)}`;
}

/** A sign in one colour, from a path in a field of 24 by 24. */
export const icon = (path: string, size: number, color: string): Node =>
  image(drawing(24, 24, `<path fill="${color}" d="${path}"/>`), { width: size, height: size });

export const arrowPath = "M13 5l7 7-7 7-1.600-1.600 4.200-4.300H4v-2.200h11.600l-4.200-4.300z";

export const side = 84;

/** Where text may stand. Stories are covered by the apps' own controls at the top and the bottom. */
export function safeArea(canvas: Canvas): Area & { top: number; bottom: number } {
  const top = inRatio(canvas, [84, 96, 260]);
  const bottom = inRatio(canvas, [84, 96, 330]);
  return { top, bottom, width: canvas.width - 2 * side, height: canvas.height - top - bottom };
}

interface Content {
  /** Its direction is that of the whole picture. */
  text: string;
  style?: Style;
  behind?: Node[];
  children: Node[];
}

/** The whole picture: the background, and the content one below the other inside the safe area. */
export function page(config: Common, canvas: Canvas, colours: Palette, content: Content): Node {
  const { width, height } = canvas;
  const { top, bottom } = safeArea(canvas);
  const { from, to, shade } = colours;
  const { backgroundImage, backgroundAngle } = config;
  const fill: Style =
    from === to
      ? { backgroundColor: from }
      : { backgroundImage: `linear-gradient(${backgroundAngle}deg, ${from}, ${to})` };
  const photo = backgroundImage
    ? [image(backgroundImage, cover), box({ ...cover, backgroundColor: withAlpha(from, shade) })]
    : [];
  const padding = `${top}px ${side}px ${bottom}px`;
  const inner: Style = { ...cover, padding, justifyContent: "space-between", ...content.style };
  return {
    ...box({ position: "relative", width, height, ...fill }, [
      ...photo,
      ...(content.behind ?? []),
      column(inner, content.children),
    ]),
    dir: directionOf(content.text),
  };
}

const avatar = 80;
const logoWidth = 180;
/** What `signature` takes of a column's height, with a gap. */
export const signatureHeight = 88 + 28;

/** Who posts: picture, name and handle at one end, the logo at the other. Nothing when none is given. */
export async function signature(
  config: Common,
  canvas: Canvas,
  inks: Inks,
  width: number,
): Promise<Node[]> {
  const { author, handle, authorImage, logo } = config;
  if (!author && !handle && !authorImage && !logo) return [];
  const room = width - (authorImage ? avatar + 24 : 0) - (logo ? logoWidth + 24 : 0);
  const names = await stack(canvas, { width: room, height: 88 }, [
    { text: author, min: 20, max: 32, style: body(inks.text, { fontWeight: 700 }) },
    { text: handle, min: 20, max: author ? 26 : 32, style: body(author ? inks.muted : inks.text) },
  ]);
  const face = { width: avatar, height: avatar, borderRadius: avatar / 2 };
  return [
    row({ width, height: 88, justifyContent: "space-between" }, [
      row({ gap: 24 }, [
        ...(authorImage ? [image(authorImage, face)] : []),
        column({ alignItems: "flex-start" }, names.map(hugging)),
      ]),
      ...(logo ? [image(logo, { maxWidth: logoWidth, height: avatar, objectFit: "contain" })] : []),
    ]),
  ];
}

/** A word or two on a tag as wide as they are. Nothing when there is none. */
export async function tag(text: string | undefined, canvas: Canvas, fill: string): Promise<Node[]> {
  const style = label(inkOn([fill]));
  const words = await stack(canvas, { width: 700, height: 48 }, [
    { text, min: 20, max: 28, style },
  ]);
  const shape: Style = { backgroundColor: fill, borderRadius: 12, padding: "10px 24px" };
  return words.map((word) =>
    row({ ...shape, position: "relative", alignSelf: "flex-start" }, [hugging(word)]),
  );
}
