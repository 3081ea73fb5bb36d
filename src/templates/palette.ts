import {
  black,
  contrast,
  inkOn,
  largeText,
  luminance,
  mix,
  readable,
  smallText,
  white,
  worstContrast,
} from "./colours.ts";

// The colours of a picture, from those that the user chose and those of its design.

const photoShade = "#0b0f1a";
/** Pictures are restless: text on them needs more. */
const photoText = 6;
/** With less of it between text and shade, the shade would have to hide the picture. */
const shadeContrast = 11;

export interface ColourChoice {
  textColor?: string | undefined;
  accentColor?: string | undefined;
  backgroundColor?: string | undefined;
  backgroundTo?: string | undefined;
  backgroundImage?: string | undefined;
}

export interface DefaultColours {
  background: string;
  to?: string;
  accent: string;
}

export interface Inks {
  text: string;
  muted: string;
  /** For large text and shapes. */
  accent: string;
  /** For small text. */
  accentText: string;
  /** For shapes that carry text of their own, or are large. */
  fill: string;
  onFill: string;
}

export interface Palette extends Inks {
  from: string;
  to: string;
  /** How much of a background picture the shade of colour `from` covers. */
  shade: number;
  /** For cards that lie on the background. */
  card: string;
  /** The colours that text may stand on. */
  grounds: readonly string[];
}

/** Inks for text on a ground of the design's own, such as a card. */
export function inksOn(grounds: readonly string[], choice: ColourChoice, accent: string): Inks {
  const text = readable(choice.textColor ?? inkOn(grounds), grounds, smallText);
  return inks(grounds, text, choice.accentColor ?? accent);
}

function inks(grounds: readonly string[], text: string, wanted: string): Inks {
  const accent = readable(wanted, grounds, largeText);
  return {
    text,
    muted: readable(mix(text, grounds[0] ?? text, 0.32), grounds, smallText),
    accent,
    accentText: readable(wanted, grounds, smallText),
    fill: accent,
    onFill: inkOn([accent]),
  };
}

/** A card that the text of the background can stand on as well. */
function cardOn(ground: string, text: string): string {
  if (luminance(text) < luminance(ground)) return mix(ground, white, 0.86);
  const lighter = mix(ground, white, 0.1);
  return contrast(text, lighter) >= smallText ? lighter : mix(ground, black, 0.2);
}

const between = (from: string, to: string): string[] => [from, mix(from, to, 0.5), to];

export function palette(choice: ColourChoice, defaults: DefaultColours): Palette {
  const wanted = choice.accentColor ?? defaults.accent;
  if (choice.backgroundImage !== undefined) return shadedPalette(choice, wanted);

  // A colour of the design gives way to the user's text; two of the user's stand as they are.
  const own = (colour: string): string =>
    choice.textColor === undefined ? colour : readable(colour, [choice.textColor], smallText);
  const from = choice.backgroundColor ?? own(defaults.background);
  const plain = choice.backgroundColor ?? own(defaults.to ?? defaults.background);
  const far = choice.backgroundTo ?? plain;
  const to = choice.textColor === undefined ? within(from, far) : far;
  const grounds = between(from, to);
  const text = choice.textColor ?? inkOn(grounds);
  return { ...inks(grounds, text, wanted), from, to, card: cardOn(from, text), shade: 1, grounds };
}

/** No ink is readable all the way from black to white: the far end comes nearer until one is. */
function within(from: string, far: string): string {
  for (let part = 0; part < 1; part += 0.1) {
    const to = mix(far, from, part);
    const grounds = between(from, to);
    if (worstContrast(inkOn(grounds), grounds) >= smallText) return to;
  }
  return from;
}

/** A picture may hold any colour: the shade over it is as strong as the worst one needs, and no stronger. */
function shadedPalette(choice: ColourChoice, wanted: string): Palette {
  const { textColor, backgroundColor } = choice;
  const base = backgroundColor ?? (textColor === undefined ? photoShade : inkOn([textColor]));
  const text = textColor ?? inkOn([base]);
  const isChosen = textColor !== undefined && backgroundColor !== undefined;
  const from = isChosen ? base : readable(base, [text], shadeContrast);
  const worst = luminance(text) > luminance(from) ? white : black;
  let shade = 0.5;
  while (shade < 0.9 && contrast(text, mix(worst, from, shade)) < photoText) shade += 0.02;
  const grounds = [from, mix(worst, from, shade)];
  // Unlike a word, a shape is seen on a picture without standing off from every part of it.
  const fill = readable(wanted, [from], largeText);
  const colours = { ...inks(grounds, text, wanted), fill, onFill: inkOn([fill]) };
  return { ...colours, from, to: from, card: cardOn(from, text), shade, grounds };
}
