import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

// Argon2id with the parameters OWASP advises first (19 MiB, 2 passes), kept beside each hash so that they can change.
const cost = { memory: 19_456, passes: 2, parallelism: 1 };
const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/-]+)\$([\w+/-]+)$/;
const derive = promisify(argon2);

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derive("argon2id", { message: password, nonce, tagLength: 32, ...cost });
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${nonce.toString("base64url")}$${tag.toString("base64url")}`;
}

export async function verifyPassword({
  hash,
  password,
}: {
  hash: string;
  password: string;
}): Promise<boolean> {
  const [, memory, passes, parallelism, nonce = "", tag = ""] = form.exec(hash) ?? [];
  if (!memory) throw new Error("a stored password hash is not of the form we write");
  const expected = Buffer.from(tag, "base64url");
  const found = await derive("argon2id", {
    message: password,
    nonce: Buffer.from(nonce, "base64url"),
    tagLength: expected.length,
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  });
  return timingSafeEqual(found, expected);
}
