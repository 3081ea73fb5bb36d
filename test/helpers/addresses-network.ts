import { once } from "node:events";
import { createServer as createSite } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { pino } from "pino";
import { buildConnector } from "undici";
import { createOutbound, OutboundError } from "../../src/outbound/index.ts";
import type { Connect, Outbound, Resolve } from "../../src/outbound/index.ts";
import { until } from "./until.ts";

/** Where every name of the open internet is, here. Nothing ever dials it. */
export const publicAddress = "93.184.215.14";

export interface Network {
  outbound: Outbound;
  /** "address:port", for each socket that was asked for. */
  dialled: string[];
  resolved: string[];
  /** How often somebody came where nobody may. */
  intruders(): Promise<number>;
  close(): Promise<void>;
}

async function portOf(server: Server, host: string): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** What a path says: /r/<status>/<location> redirects there; anything else is a file. */
const site = () =>
  createSite(({ url = "" }, response) => {
    const [, kind, status, location = ""] = url.split("/");
    if (kind === "r") {
      response.writeHead(Number(status), { location: decodeURIComponent(location) });
    }
    if (kind === "refresh") response.setHeader("refresh", `0; url=${decodeURIComponent(location)}`);
    response.end("file");
  });

export const redirect = (to: string, status = 302): string =>
  `/r/${status}/${encodeURIComponent(to)}`;

/**
 * The internet on loopback: sockets that are asked for at the public address lead to a site, and all others to
 * sentinels that count them. So nothing leaves the machine, not even from a service without a guard.
 */
export async function startNetwork(resolve: Resolve): Promise<Network> {
  const knocks = { "127.0.0.1": 0, "::1": 0 };
  const visitors = new Set<Socket>();
  const sentinel = (host: keyof typeof knocks): Server =>
    createServer((socket: Socket) => {
      knocks[host] += 1;
      visitors.add(socket);
      socket.on("error", () => {}).end("HTTP/1.1 200 OK\r\n\r\ninside");
    });
  const inside = { "127.0.0.1": sentinel("127.0.0.1"), "::1": sentinel("::1") };
  const outside = site();
  const ports = {
    site: await portOf(outside, "127.0.0.1"),
    "127.0.0.1": await portOf(inside["127.0.0.1"], "127.0.0.1"),
    "::1": await portOf(inside["::1"], "::1"),
  };
  const [dialled, resolved]: [string[], string[]] = [[], []];
  // Without TLS, whatever the protocol: nobody here has the certificates of the names.
  const open = buildConnector({ allowH2: false });
  const openPlain = (hostname: string, port: number, callback: buildConnector.Callback): void =>
    open({ hostname, port: String(port), protocol: "http:" }, callback);

  const connect: Connect = ({ addresses, protocol, port }, callback) => {
    const number = port || (protocol === "https:" ? 443 : 80);
    dialled.push(...addresses.map((address) => `${address}:${number}`));
    const remoteAddress = addresses.find((address) => address !== publicAddress) ?? publicAddress;
    const family = remoteAddress.includes(":") ? "::1" : "127.0.0.1";
    const isOutside = remoteAddress === publicAddress;
    openPlain(family, isOutside ? ports.site : ports[family], (...[error, socket]) => {
      if (error) return callback(error, null);
      Object.defineProperty(socket, "remoteAddress", { value: remoteAddress });
      return callback(null, socket);
    });
  };

  const outbound = createOutbound({
    log: pino({ level: "silent" }),
    connect,
    async resolve(hostname) {
      resolved.push(hostname);
      return await resolve(hostname);
    },
  });
  return {
    outbound,
    dialled,
    resolved,
    /** Knocks once itself at either: those who came before are counted by then. */
    async intruders() {
      const before = { ...knocks };
      for (const host of ["127.0.0.1", "::1"] as const) {
        openPlain(host, ports[host], (...[error, socket]) =>
          error ? undefined : socket.destroy(),
        );
        await until(() => knocks[host] > before[host]);
        knocks[host] -= 1;
      }
      return knocks["127.0.0.1"] + knocks["::1"];
    },
    async close() {
      await outbound.close();
      outside.closeAllConnections();
      for (const visitor of visitors) visitor.destroy();
      for (const server of [outside, ...Object.values(inside)]) {
        server.close();
        await once(server, "close");
      }
    },
  };
}

/** What became of a download: its text, or its failure. */
export async function outcome({ outbound }: Network, url: string, totalMs = 5_000) {
  try {
    const limits = { maxBytes: 1_000, totalMs, idleMs: 5_000, isGuarded: true };
    const { body } = await outbound.download(url, limits);
    return (await body.toArray()).join("");
  } catch (error) {
    if (error instanceof OutboundError) return error.failure;
    throw error;
  }
}
