import { AppError } from "../errors.ts";

// A path that is no host, or a whole address. Visible ASCII only and no backslash: what a URL parser would silently
// strip or turn into something else is refused, not repaired.
const wellFormed = /^(?:\/|https?:\/\/)(?!\/)[\x21-\x5b\x5d-\x7e]*$/i;

/**
 * Where the user goes afterwards, as a whole address: on the web app, or on another origin that is listed. The URL
 * parser decides what an address means, as it does in the browser that will follow it.
 */
export function createReturnTo(webUrl: string, otherOrigins: readonly string[]) {
  const origins = new Set([webUrl, ...otherOrigins].map((url) => new URL(url).origin));
  return (returnTo: string): string => {
    const url = wellFormed.test(returnTo) ? URL.parse(returnTo, webUrl) : null;
    if (url && origins.has(url.origin) && !url.username && !url.password) return url.href;
    throw new AppError("validation_error", "The request is not valid", {
      details: [
        {
          field: "query.returnTo",
          message: "must be a path of the web app, or an address on an origin that is allowed",
          code: "invalid_string",
        },
      ],
    });
  };
}

/** The address with the outcome in its query; its other parameters and its fragment stay. */
export function withOutcome(returnTo: string, name: string, reason: string | null): string {
  const url = new URL(returnTo);
  url.searchParams.delete("reason");
  url.searchParams.set(name, reason === null ? "connected" : "error");
  if (reason !== null) url.searchParams.set("reason", reason);
  return url.href;
}
