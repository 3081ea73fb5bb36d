import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { LookupFunction, Socket } from "node:net";
import { callbackify } from "node:util";
import { buildConnector } from "undici";
import { isPublicAddress } from "./addresses.ts";
import { OutboundError } from "./outbound-error.ts";

/** Every address of a name. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface Target extends buildConnector.Options {
  /** Where `hostname` is: no other address may be dialled for it. */
  addresses: readonly string[];
  signal?: AbortSignal | undefined;
  acceptsAnyCertificate?: boolean;
}

/** Opens a socket, with TLS where the target's protocol says so. Nothing else in the service does. */
export type Connect = (target: Target, callback: buildConnector.Callback) => void;

export interface Ways {
  resolve?: Resolve | undefined;
  connect?: Connect | undefined;
  /** Places (`host:port`) that users may name although they are private: the sandbox's. */
  allowed?: ReadonlySet<string> | undefined;
}

export interface DialOptions {
  /** Only what is public may be reached: the address was chosen by a user, not by the operator. */
  isGuarded: boolean;
  /** For the workflow endpoint alone: see `FetchOptions`. */
  acceptsAnyCertificate?: boolean;
  /** Closes the socket too, at whatever stage. */
  signal?: AbortSignal;
}

const webPorts: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);

const lookUp: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

const openSocket: Connect = (
  { addresses, signal, acceptsAnyCertificate = false, ...target },
  callback,
) => {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const pinned: LookupFunction = (_hostname, _options, done) => done(null, found);
  buildConnector({
    lookup: pinned,
    autoSelectFamily: true,
    allowH2: false,
    signal,
    rejectUnauthorized: !acceptsAnyCertificate,
  })(target, callback);
};

const refusal = (message: string): OutboundError =>
  new OutboundError("forbidden_address", message, { wasSent: false });

async function addressesOf(hostname: string, resolve: Resolve): Promise<string[]> {
  if (isIP(hostname)) return [hostname];
  const addresses = await resolve(hostname).catch((cause: unknown) => {
    const message = `the name ${hostname} could not be resolved`;
    throw new OutboundError("network", message, { wasSent: false, cause });
  });
  if (addresses.length > 0) return addresses;
  throw new OutboundError("network", `the name ${hostname} has no address`, { wasSent: false });
}

const portOf = ({ port, protocol }: buildConnector.Options): number =>
  Number(port || (protocol === "https:" ? 443 : 80));

/** One bad record is enough: whoever owns the name chooses which of them is dialled. */
function guard(target: buildConnector.Options, addresses: string[]): void {
  const port = portOf(target);
  if (!webPorts.has(port)) throw refusal(`port ${port} may not be called`);
  if (!addresses.every(isPublicAddress))
    throw refusal(`${target.hostname} is not at a public address`);
}

/**
 * The one way out of the process. A name is resolved once, and what was checked is what is dialled: an answer that
 * changes in between changes nothing. The name still stands in the Host header and in the certificate.
 */
export function createDial(
  { resolve = lookUp, connect = openSocket, allowed }: Ways,
  { isGuarded, acceptsAnyCertificate = false, signal }: DialOptions,
): buildConnector.connector {
  async function dial(options: buildConnector.Options): Promise<Socket> {
    const addresses = await addressesOf(options.hostname, resolve);
    const isChecked = isGuarded && !allowed?.has(`${options.hostname}:${portOf(options)}`);
    if (isChecked) guard(options, addresses);
    signal?.throwIfAborted();
    const socket = await new Promise<Socket>((opened, failed) => {
      connect({ ...options, addresses, signal, acceptsAnyCertificate }, (...[error, socket]) =>
        error ? failed(error) : opened(socket),
      );
    });
    if (!isChecked || isPublicAddress(socket.remoteAddress ?? "")) return socket;
    socket.destroy();
    throw refusal(`${options.hostname} is not at a public address`);
  }
  const dialled = callbackify(dial);
  return (options, callback) =>
    dialled(options, (error, socket) => (error ? callback(error, null) : callback(null, socket)));
}
