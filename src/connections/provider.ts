import type { PlatformName } from "../platforms/index.ts";

// The contract calls the professional network `network` in functions, states and answers.
const contractNames: Partial<Record<PlatformName, string>> = { linkedin: "network" };

/** The platform as this room's addresses, states and outcomes name it. */
export function providerOf(platform: PlatformName): string {
  return contractNames[platform] ?? platform;
}

/** The one address that is registered with the platform, whichever name the connection was started under. */
export function redirectUriOf(functionsUrl: string, platform: PlatformName): string {
  return `${functionsUrl}/${providerOf(platform)}AuthCallback`;
}
