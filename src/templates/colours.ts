// Colour arithmetic by the WCAG definition of contrast. Colours are `#rgb` or `#rrggbb` going in, `#rrggbb` coming out.

export const white = "#ffffff";
export const black = "#000000";
const softInks = ["#10131a", white];

/** Contrast that small text needs, and large text and shapes. */
export const smallText = 4.5;
export const largeText = 3;

function channels(colour: string): number[] {
  const digits = colour.slice(1);
  const full = digits.length === 3 ? digits.replaceAll(/./g, "$&$&") : digits;
  return [0, 2, 4].map((start) => Number.parseInt(full.slice(start, start + 2), 16));
}

export function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

export const worstContrast = (colour: string, grounds: readonly string[]): number =>
  Math.min(...grounds.map((ground) => contrast(colour, ground)));

/** `part` 0 is all `from`, 1 is all `to`. */
export function mix(from: string, to: string, part: number): string {
  const ends = channels(to);
  const mixed = channels(from).map((value, i) =>
    Math.round(value + ((ends[i] ?? 0) - value) * part),
  );
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

export function withAlpha(colour: string, alpha: number): string {
  return `rgba(${channels(colour).join(", ")}, ${alpha})`;
}

/** Black or white, softened where the contrast allows it. */
export function inkOn(grounds: readonly string[]): string {
  const best = (inks: readonly string[]): string =>
    inks.reduce((a, b) => (worstContrast(b, grounds) > worstContrast(a, grounds) ? b : a));
  const soft = best(softInks);
  return worstContrast(soft, grounds) >= smallText ? soft : best([black, white]);
}

/** The colour itself, or the nearest lighter or darker one that reaches the contrast on every ground. */
export function readable(colour: string, grounds: readonly string[], ratio: number): string {
  for (let part = 0; part < 1; part += 0.04) {
    const found = [white, black]
      .map((end) => mix(colour, end, part))
      .find((candidate) => worstContrast(candidate, grounds) >= ratio);
    if (found !== undefined) return found;
  }
  return inkOn(grounds);
}
