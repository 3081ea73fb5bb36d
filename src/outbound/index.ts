// Every call that leaves the process: one deadline, a cap on what is read, no redirects, typed failures.
// It knows no provider; who is called, and what the answer means, is for the calling room to say.
export { createOutbound } from "./fetch-json.ts";
export type { FetchJson, Outbound } from "./fetch-json.ts";
export { OutboundError } from "./outbound-error.ts";
export type { OutboundFailure, WasSent } from "./outbound-error.ts";
export type { Answer, FetchOptions, Send } from "./send.ts";
