// An issuer on loopback for tests: discovery, keys, tokens of any shape, a count of what it was asked, and a fault switch.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { SignJWT, exportJWK, generateKeyPair } from "jose";
import type { CryptoKey, JWK, JWTHeaderParameters, JWTPayload } from "jose";

export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  jwk: JWK;
}

export async function signingKey(kid: string, alg = "ES256"): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return {
    kid,
    alg,
    privateKey,
    publicKey,
    jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" },
  };
}

/** Signs exactly these claims and this header. */
export async function sign(
  key: SigningKey,
  claims: JWTPayload,
  header: Partial<JWTHeaderParameters> = {},
) {
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .sign(key.privateKey);
}

export interface TestIssuer {
  url: string;
  /** What the key set holds; changing it is a rotation. */
  keys: SigningKey[];
  fault: "none" | "down" | "other issuer" | "no keys" | "redirect";
  /** How many times the key set was asked for. */
  keyRequests: number;
  requests: number;
}

export async function testIssuer(...keys: SigningKey[]): Promise<TestIssuer> {
  const issuer: TestIssuer = { url: "", keys, fault: "none", keyRequests: 0, requests: 0 };
  const documents: Record<string, () => object> = {
    "/.well-known/openid-configuration": () => ({
      issuer: issuer.fault === "other issuer" ? "https://other.example" : issuer.url,
      jwks_uri: `${issuer.url}/keys`,
    }),
    "/keys": () =>
      issuer.fault === "no keys" ? { keys: "none" } : { keys: issuer.keys.map((key) => key.jwk) },
  };
  const server = createServer((request, response) => {
    issuer.requests += 1;
    if (request.url === "/keys") issuer.keyRequests += 1;
    const document = documents[request.url ?? ""];
    if (issuer.fault === "redirect") response.writeHead(302, { location: "/keys" }).end();
    else if (issuer.fault === "down" || !document) response.writeHead(503).end("down");
    else
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(document()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return issuer;
}
