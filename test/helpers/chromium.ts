import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

const paths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env["CHROMIUM"] ?? paths.find((path) => existsSync(path));

/** A reason to skip, where there is no browser. */
export const chromiumIsMissing: string | false =
  executablePath === undefined && "needs Chromium (apt-get install chromium, or CHROMIUM=path)";

export async function startChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error("there is no Chromium");
  return await chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
