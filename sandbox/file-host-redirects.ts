import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import { wholeNumber } from "./file-host-files.ts";
import type { Frame } from "./service.ts";

const redirect = ({ query }: Call, location?: string): Answer => ({
  status: wholeNumber(query, "status", 302),
  headers: location === undefined ? {} : { location },
});

const fileName = ({ query }: Call): string => query.get("file") ?? "picture.png";
const fileAddress = (call: Call): string => `${call.baseUrl}/files/${fileName(call)}`;

/** Ways to be sent elsewhere. `?status=` picks the kind of redirect, `?file=` what stands at its end. */
export function redirectRoutes({ app, read }: Frame): void {
  const route = (path: string, look: (call: Call) => Answer): void =>
    void app.get(`/redirect/${path}`, read("filehost.redirect", look));

  route("hops/:count(^[1-9]\\d{0,8}$)", (call) => {
    const left = Number(call.params["count"]) - 1;
    const next = `${call.baseUrl}/redirect/hops/${left}?${call.query.toString()}`;
    return redirect(call, left > 0 ? next : fileAddress(call));
  });
  route("loop", (call) => redirect(call, `${call.baseUrl}/redirect/loop`));
  route("to", (call) => redirect(call, call.query.get("to") ?? ""));
  route("relative", (call) => redirect(call, `../files/${fileName(call)}`));
  route("no-location", (call) => redirect(call));
  // Browsers follow this header; to everyone else the answer is the page itself.
  route("refresh", (call) => ({
    status: 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      refresh: `0; url=${call.query.get("to") ?? fileAddress(call)}`,
    },
    body: "<!doctype html><title>Moved</title><p>One moment, please.</p>",
  }));
}
