// Every call that leaves the process: one deadline, a cap on what is read, addresses checked where a user chose them,
// typed failures. It knows no provider; who is called, and what the answer means, is for the calling room to say.
export type { Connect, Resolve } from "./dial.ts";
export type { Download, DownloadOptions, StartDownload } from "./download.ts";
export type { FetchJson } from "./fetch-json.ts";
export { createOutbound } from "./outbound.ts";
export type { Outbound } from "./outbound.ts";
export { OutboundError } from "./outbound-error.ts";
export type { OutboundFailure, WasSent } from "./outbound-error.ts";
export type { Answer, FetchOptions, Send } from "./send.ts";
