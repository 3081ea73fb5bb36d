import type { Case } from "../hostile.ts";
import { lines, words } from "./lists.ts";

const wrongTypes = [null, true, 0, -1, 1.5, [], ["x"], {}, { a: { b: 1 } }];
const emails = [
  ...lines(`
    x
    @
    a@
    @b.example
    a@b
    a b@c.example
    a@b@c.example
    a@b..c
    a@.example
    .a@b.example
    a..b@c.example
    a@b.example, c@d.example
    <a@b.example>
    a@[127.0.0.1]
    "a"@b.example
    caf\u00e9@b.example
    \u0130@b.example
    a\u200b@b.example
    a@b.example\u202e`),
  "",
  " ",
  "a@b.example\n",
  "a@b.example\r\nbcc: c@d.example",
  `${"a".repeat(400)}@b.example`,
  `a@${"b.".repeat(50_000)}example`,
  "a@".repeat(5_000),
];
const passwords = [
  "",
  "short",
  "123456789",
  "p".repeat(129),
  "p".repeat(900_000),
  "\u{1f600}".repeat(65),
];
const addresses = words(String.raw`
  http://evil.example //evil.example /\evil.example https:evil.example javascript:alert(1)
  http://localhost:3000@evil.example`);
const cookies = [
  ...words(`
    = ;;; __session __session= __session=%zz __session=%E0%A4%A __session=a.b __session=caf\u00e9 __session="a
    __session=null __session=.. __session=%00 __proto__=x __session.session_data=e30`),
  "",
  "__session=a.b; __session=c.d",
  `__session=${"a".repeat(8_000)}`,
  `${"a=b; ".repeat(2_000)}__session=x`,
];
const origins = [
  ...words(`
    null x * http:// http://[ http://evil.example //localhost:3000 http://localhost:3000.evil.example
    http://localhost:3001 https://localhost:3000 http://LOCALHOST:3000@evil.example \u00e9`),
  "",
  "http://localhost:3000, http://evil.example",
];

/** The address is one that nobody has, so that no sign-up of one case stands in the way of another. */
const someone = () => ({
  name: "Ada",
  email: `${crypto.randomUUID()}@users.example`,
  password: "a long enough password",
});

interface Try {
  name: string;
  to: string;
  body: unknown;
  expect: number | readonly number[];
  headers?: Record<string, string>;
}

/** The identity provider's refusals, judged like all others. What is tried at a password is noted. */
export function identityCases(origin: string): Case[] {
  const bodies = [[], 1, "x", true, null, {}];
  const fields = ["name", "email", "password"];
  const tries: Try[] = [
    ...fields.flatMap((field) =>
      wrongTypes.map((value) => ({
        name: `${field} ${JSON.stringify(value)}`,
        to: "sign-up/email",
        body: { ...someone(), [field]: value },
        expect: 400,
      })),
    ),
    ...fields.map((field) => ({
      name: `no ${field}`,
      to: "sign-up/email",
      body: { ...someone(), [field]: undefined },
      expect: 400,
    })),
    ...emails.flatMap((email) =>
      ["sign-up/email", "sign-in/email"].map((to) => ({
        name: `email ${JSON.stringify(email.slice(0, 40))}`,
        to,
        body: { ...someone(), email },
        // An address that is too long to be anyone's is, to sign in with, just one that nobody has.
        expect: to === "sign-in/email" && email.length > 300 ? [400, 401] : 400,
      })),
    ),
    ...passwords.map((password) => ({
      name: `password of ${password.length}`,
      to: "sign-up/email",
      body: { ...someone(), password },
      expect: 400,
    })),
    ...["n".repeat(201), "n".repeat(900_000)].map((name) => ({
      name: `name of ${name.length}`,
      to: "sign-up/email",
      body: { ...someone(), name },
      expect: 400,
    })),
    ...addresses.map((callbackURL) => ({
      name: `callbackURL ${callbackURL}`,
      to: "sign-up/email",
      body: { ...someone(), callbackURL },
      expect: 403,
    })),
    ...["sign-up/email", "sign-in/email", "change-password", "request-password-reset"].flatMap(
      (to) => bodies.map((body) => ({ name: JSON.stringify(body), to, body, expect: 400 })),
    ),
    ...origins.map((other) => ({
      name: `from ${JSON.stringify(other)}`,
      to: "sign-in/email",
      body: someone(),
      headers: { origin: other, cookie: "__session=a.b" },
      expect: 403,
    })),
  ];
  return [
    ...tries.map(({ name, to, body, expect, headers }): Case => ({
      name: `${to}: ${name}`,
      method: "POST",
      path: `/api/auth/${to}`,
      headers: { origin, ...headers },
      body: JSON.stringify(body),
      isAnonymous: true,
      expect,
      noted: "audit_log",
    })),
    ...cookies.flatMap((cookie) =>
      ["token", "get-session"].map((path): Case => ({
        name: `${path} with cookie ${JSON.stringify(cookie.slice(0, 40))}`,
        path: `/api/auth/${path}`,
        headers: { cookie },
        isAnonymous: true,
        expect: path === "token" ? 401 : 200,
      })),
    ),
  ];
}
