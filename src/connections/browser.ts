import { hash, randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";

const localhost = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;
const value = /^[\w-]{43}$/;
const maxAgeSeconds = 600;

/** Tells browsers apart by a cookie, so that a connection is finished in the browser that started it. */
export interface Browsers {
  /** The hash of the cookie that came with the request. */
  hashOf(request: FastifyRequest): string | null;
  /** The same, after giving a cookie to a browser without one. Several connections at once share it. */
  bind(request: FastifyRequest, reply: FastifyReply): string;
}

export function createBrowsers(functionsUrl: string): Browsers {
  const { protocol, hostname } = new URL(functionsUrl);
  const isSecure = protocol === "https:" || !localhost.test(hostname);
  // The prefix keeps other hosts of the same domain from planting a cookie of their own.
  const name = isSecure ? "__Host-connection" : "connection";
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;

  function read({ headers }: FastifyRequest): string | undefined {
    const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
    const found = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
    return found !== undefined && value.test(found) ? found : undefined;
  }

  return {
    hashOf(request) {
      const found = read(request);
      return found === undefined ? null : hash("sha256", found);
    },
    bind(request, reply) {
      const cookie = read(request) ?? randomBytes(32).toString("base64url");
      reply.header("set-cookie", `${name}=${cookie}; ${attributes}`);
      return hash("sha256", cookie);
    },
  };
}
