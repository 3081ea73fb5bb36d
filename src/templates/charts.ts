import type { Node } from "@takumi-rs/core";
import { mix } from "./colours.ts";
import type { Palette } from "./palette.ts";
import { box, cover, drawing, image, row } from "./parts.ts";
import type { Area } from "./typography.ts";

// Charts take the height that is left in their column; that of the area is the least.

/** From zero, or the lowest value below it; the last bar stands out. */
export function bars(values: readonly number[], { width }: Area, colours: Palette): Node {
  const low = Math.min(0, ...values);
  const span = Math.max(0, ...values) - low || 1;
  const gap = values.length > 12 ? 8 : 16;
  const barWidth = (width - gap * (values.length - 1)) / values.length;
  const faint = mix(colours.from, colours.accent, 0.38);
  return row(
    { width, gap, flexGrow: 1, alignItems: "flex-end" },
    values.map((value, i) =>
      box({
        width: barWidth,
        height: `${Math.max(2, (100 * (value - low)) / span)}%`,
        borderRadius: Math.min(16, barWidth / 4),
        backgroundColor: i === values.length - 1 ? colours.accent : faint,
      }),
    ),
  );
}

/** From the lowest value to the highest, with a dot at the last. */
export function line(values: readonly number[], { width, height }: Area, colours: Palette): Node {
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const points = values.map((value, i) => ({
    x: Math.round(16 + ((width - 32) * i) / (values.length - 1)),
    y: Math.round(height - 24 - ((value - low) / span) * (height - 48)),
  }));
  const path = points.map(({ x, y }) => `${x} ${y}`).join(" L");
  const end = points.at(-1) ?? { x: 0, y: 0 };
  const { accent } = colours;
  const area = `<path d="M16 ${height} L${path} L${width - 16} ${height}z" fill="${accent}" fill-opacity=".16"/>`;
  const stroke = `<path d="M${path}" fill="none" stroke="${accent}" stroke-width="8" stroke-linecap="round" stroke-linejoin="round"/>`;
  const dot = `<circle cx="${end.x}" cy="${end.y}" r="15" fill="${accent}"/>`;
  return box({ position: "relative", width, flexGrow: 1 }, [
    image(drawing(width, height, area + stroke + dot), {
      ...cover,
      objectFit: "contain",
      objectPosition: "bottom",
    }),
  ]);
}
