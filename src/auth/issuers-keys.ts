import { createLocalJWKSet, errors } from "jose";
import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters } from "jose";
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { Issuer } from "./issuers.ts";

const minute = 60_000;
const freshMs = 10 * minute;
const usableMs = 24 * 60 * minute;

/** The issuer's keys can't be had, and none are known from before. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

export type FindKey = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/**
 * Keeps an issuer's keys for ten minutes, and reads them again early for a key it does not know. Reads are one at a time
 * and never closer than the cool-down, so unknown keys can't be used to storm the issuer. While the issuer is away the
 * known keys go on working, for a day.
 */
export function createKeyFinder(
  issuer: Issuer,
  { clock, log }: { clock: Clock; log: Logger },
): FindKey {
  let known: { find: ReturnType<typeof createLocalJWKSet>; readAt: number } | undefined;
  let triedAt = -Infinity;
  let reading: Promise<void> | undefined;

  const now = () => clock.now().getTime();
  const isKnownWithin = (ms: number) => known !== undefined && now() - known.readAt < ms;

  async function read(): Promise<void> {
    try {
      known = { find: createLocalJWKSet(await issuer.loadKeys()), readAt: now() };
    } catch (error) {
      log.warn({ err: error, issuer: issuer.issuer }, "the issuer's keys could not be read");
    }
  }

  async function renew(): Promise<void> {
    if (!reading && now() - triedAt >= issuer.coolDownMs) {
      triedAt = now();
      reading = read().finally(() => (reading = undefined));
    }
    await reading;
  }

  async function findKnown(
    header: JWSHeaderParameters,
    token: FlattenedJWSInput,
  ): Promise<CryptoKey> {
    if (!known || !isKnownWithin(usableMs))
      throw new KeysUnavailable(`no keys of ${issuer.issuer}`);
    return await known.find(header, token);
  }

  return async (header, token) => {
    if (!isKnownWithin(freshMs)) await renew();
    try {
      return await findKnown(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await renew();
      return await findKnown(header, token);
    }
  };
}
