import type { Payments, Settings } from "./state.ts";

const defaults: Settings = {
  endpoint: null,
  secrets: ["whsec_sandbox"],
  isDuplicating: false,
  isShuffling: false,
  delayMs: 0,
  apiVersion: "dahlia",
  signatureAgeSeconds: 0,
  processingMs: 0,
  finalizeAfterSeconds: 3600,
  afterRetries: "cancel",
};

export function settingsOf({ settings }: Payments): Settings {
  return { ...defaults, ...settings.get("current") };
}
