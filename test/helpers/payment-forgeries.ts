import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { hmac, lifeOf, newStory, nowSeconds, secret, signatureOf } from "./payment-events.ts";

// Deliveries that the provider did not make: somebody else's, old ones, changed ones. Each would have an effect if it
// were taken for real, for each is of a new user and a new event.

export interface Delivery {
  body: Buffer;
  signature?: string | undefined;
  headers?: Record<string, string>;
}

export interface Source {
  /** A body as the provider would send it, never the same. */
  body: string;
  random: () => number;
}

export type Forgery = (source: Source) => Delivery;

export function newBody(random: () => number): string {
  const events = lifeOf(newStory());
  return JSON.stringify(events[Math.floor(random() * events.length)]);
}

const signed = (body: string, signature?: string): Delivery => ({
  body: Buffer.from(body),
  signature,
});
const upTo = (random: () => number, most: number): number => 1 + Math.floor(random() * most);
const pick = (random: () => number, ...choice: string[]): string =>
  choice[Math.floor(random() * choice.length)] ?? "";
const hex = (): string => randomBytes(32).toString("hex");

/** The right signature's time and hash, to be put into a header of another form. */
function parts(body: string): { t: number; v1: string } {
  const t = nowSeconds();
  return { t, v1: hmac(body, secret, t) };
}

function changedAt(text: string, index: number): string {
  const other = text[index] === "0" ? "1" : "0";
  return text.slice(0, index) + other + text.slice(index + 1);
}

const longTime = 10 * 365 * 86_400;

export const forgeries: Record<string, Forgery> = {
  "no header": ({ body }) => signed(body),
  "an empty header": ({ body, random }) => signed(body, pick(random, "", " ", ",", ",,,", "=")),
  "a made-up hash": ({ body }) => signed(body, `t=${nowSeconds()},v1=${hex()}`),
  "another secret": ({ body }) => signed(body, signatureOf(body, `whsec_${hex()}`)),
  "a secret that is almost right": ({ body, random }) =>
    signed(
      body,
      signatureOf(
        body,
        pick(random, "sandbox", "whsec_", "whsec_sandbox ", "WHSEC_SANDBOX", "whsec_sandbox\n", ""),
      ),
    ),
  "301 seconds old and older": ({ body, random }) =>
    signed(body, signatureOf(body, secret, nowSeconds() - 300 - upTo(random, longTime))),
  "just 301 seconds old": ({ body }) => signed(body, signatureOf(body, secret, nowSeconds() - 301)),
  "301 seconds ahead and more": ({ body, random }) =>
    signed(body, signatureOf(body, secret, nowSeconds() + 301 + upTo(random, longTime))),
  "just over 301 seconds ahead": ({ body }) =>
    signed(body, signatureOf(body, secret, nowSeconds() + 302)),
  "an old one with a new time": ({ body, random }) => {
    const old = hmac(body, secret, nowSeconds() - 300 - upTo(random, longTime));
    return signed(body, `t=${nowSeconds()},v1=${old}`);
  },
  "an old one with a second, new time": ({ body, random }) => {
    const old = nowSeconds() - 300 - upTo(random, longTime);
    const times = [`t=${old}`, `t=${nowSeconds()}`];
    if (random() < 0.5) times.reverse();
    return signed(body, `${times.join(",")},v1=${hmac(body, secret, old)}`);
  },
  "two times that are both right": ({ body }) => {
    const { t, v1 } = parts(body);
    return signed(body, `t=${t},t=${t},v1=${v1}`);
  },
  "a time that is no whole number": ({ body, random }) => {
    const t = nowSeconds();
    const text = pick(
      random,
      `${t}.0`,
      `+${t}`,
      `-${t}`,
      `0x${t.toString(16)}`,
      `${t}e0`,
      "",
      "NaN",
    );
    return signed(body, `t=${text},v1=${hmac(body, secret, text)}`);
  },
  "no time": ({ body }) => signed(body, `v1=${parts(body).v1}`),
  "v0 only": ({ body }) => {
    const { t, v1 } = parts(body);
    return signed(body, `t=${t},v0=${v1}`);
  },
  "another scheme": ({ body, random }) => {
    const { t, v1 } = parts(body);
    return signed(
      body,
      `t=${t},${pick(random, "v2", "v10", "V1", "v1x", "sha256", "v", "1")}=${v1}`,
    );
  },
  "several v1, none of which fits": ({ body, random }) => {
    const hashes = Array.from({ length: 1 + upTo(random, 20) }, () => `v1=${hex()}`);
    return signed(body, `t=${nowSeconds()},${hashes.join(",")}`);
  },
  "a v0 that fits beside a v1 that does not": ({ body }) => {
    const { t, v1 } = parts(body);
    return signed(body, `t=${t},v1=${hex()},v0=${v1}`);
  },
  "a hash cut short or too long": ({ body, random }) => {
    const { t, v1 } = parts(body);
    const cut =
      random() < 0.5 ? v1.slice(0, upTo(random, 63)) : v1 + hex().slice(0, upTo(random, 9));
    return signed(body, `t=${t},v1=${cut}`);
  },
  "a hash with one digit changed": ({ body, random }) => {
    const { t, v1 } = parts(body);
    return signed(body, `t=${t},v1=${changedAt(v1, upTo(random, 64) - 1)}`);
  },
  "a hash in upper case": ({ body }) => {
    const { t, v1 } = parts(body);
    return signed(body, `t=${t},v1=${v1.toUpperCase()}`);
  },
  "a hash in base64": ({ body }) => {
    const { t, v1 } = parts(body);
    return signed(body, `t=${t},v1=${Buffer.from(v1, "hex").toString("base64url")}`);
  },
  "a hash of the body without the time": ({ body }) =>
    signed(body, `t=${nowSeconds()},v1=${hmac(body, secret, "")}`),
  "spaces and unicode around what is right": ({ body, random }) => {
    const { t, v1 } = parts(body);
    const odd = pick(random, " ", "\t", "\u00a0", "\u200b", "\u2028", "\ufeff", "\u00ad");
    const forms = [`t=${t},v1=${odd}${v1}`, `t=${t},v1=${v1}${odd}`, `t=${t},v1${odd}=${v1}`];
    const wide = v1.replace(/\d/, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
    return signed(body, pick(random, ...forms, `t=${t},${odd}v1=${v1}`, `t=${t},v1=${wide}`));
  },
  "other separators": ({ body, random }) => {
    const { t, v1 } = parts(body);
    const form = (comma: string, equals: string) => `t${equals}${t}${comma}v1${equals}${v1}`;
    return signed(
      body,
      pick(random, form(";", "="), form("&", "="), form(" ", "="), form(",", ":")),
    );
  },
  "JSON, a bearer token or noise for a header": ({ body, random }) => {
    const { t, v1 } = parts(body);
    const noise = randomBytes(upTo(random, 2_000)).toString("base64");
    return signed(body, pick(random, JSON.stringify({ t, v1 }), `Bearer ${v1}`, v1, noise));
  },
  "a body cut short": ({ body, random }) =>
    signed(body.slice(0, -upTo(random, body.length - 1)), signatureOf(body)),
  "no body": ({ body }) => signed("", signatureOf(body)),
  "a body with something added": ({ body, random }) => {
    const more = pick(random, " ", "\n", "\0", "{}", body);
    return signed(random() < 0.5 ? body + more : more + body, signatureOf(body));
  },
  "a body with one byte changed": ({ body, random }) =>
    signed(changedAt(body, upTo(random, body.length) - 1), signatureOf(body)),
  "the same JSON written otherwise": ({ body, random }) => {
    const value = JSON.parse(body) as Record<string, unknown>;
    const turned = Object.fromEntries(Object.entries(value).toReversed());
    const escaped = body.replace("evt_", "\\u0065vt_");
    const forms = [JSON.stringify(value, null, 2), JSON.stringify(turned), escaped];
    return signed(pick(random, ...forms, body.replace(":", ": ")), signatureOf(body));
  },
  "a byte order mark before the body": ({ body }) => signed(`\ufeff${body}`, signatureOf(body)),
  "a byte that is no UTF-8 where U+FFFD was signed": ({ body }) => ({
    body: Buffer.from(body.replace("a", "\u00e9"), "latin1"),
    signature: signatureOf(body.replace("a", "\ufffd")),
  }),
  "the same JSON in UTF-16": ({ body }) => ({
    body: Buffer.from(body, "utf16le"),
    signature: signatureOf(body),
  }),
  "the signature of another body": ({ body, random }) => signed(body, signatureOf(newBody(random))),
  "a compressed body": ({ body, random }) => {
    const packed = gzipSync(body);
    const headers = { "content-encoding": "gzip" };
    return { body: packed, signature: signatureOf(random() < 0.5 ? body : packed), headers };
  },
  "a form or a text that is not signed": ({ body, random }) => ({
    body: Buffer.from(random() < 0.5 ? body : `payload=${encodeURIComponent(body)}`),
    signature: `t=${nowSeconds()},v1=${hex()}`,
    headers: {
      "content-type": pick(
        random,
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "nonsense",
      ),
    },
  }),
  "signed, and no event": ({ random }) => {
    const body = pick(random, "null", "[]", "{}", '"evt"', "1", '{"id":"evt_1"}', "{", "\ufeff{}");
    return signed(body, signatureOf(body));
  },
};
