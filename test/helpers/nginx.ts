import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./ports.ts";

/** A reason to skip, where there is no nginx. */
export const nginxIsMissing: string | false =
  !existsSync("/usr/sbin/nginx") && "needs nginx (apt-get install nginx-light)";

/** The file of docs/nginx.conf as it is, with its placeholders filled, and one more server with the bare files. */
export async function startNginx(dir: string, dataDir: string, heraldPort: string) {
  const [front, bare] = [await freePort(), await freePort()];
  const template = await readFile(new URL("../../docs/nginx.conf", import.meta.url), "utf8");
  const conf = template
    .replaceAll("HERALD_DATA", dataDir)
    .replaceAll("HERALD_CACHE", join(dir, "cache"))
    .replaceAll("HERALD_RUN", dir)
    .replace("127.0.0.1:3000", `127.0.0.1:${heraldPort}`)
    // Whoever asks runs on this machine too: with more workers the figures are those of the scheduler.
    .replace("worker_processes auto", "worker_processes 1")
    .replace("listen 80;", `listen 127.0.0.1:${front};`)
    .replace(
      /\}\s*$/,
      `  server { listen 127.0.0.1:${bare}; root ${join(dataDir, "media", "herald-media")}; }\n}\n`,
    );
  await writeFile(
    join(dir, "nginx.conf"),
    `daemon off; pid ${join(dir, "nginx.pid")}; user root;\n${conf}`,
  );
  const child = spawn(
    "/usr/sbin/nginx",
    ["-p", dir, "-c", join(dir, "nginx.conf"), "-e", join(dir, "nginx.log")],
    {
      stdio: "inherit",
    },
  );
  const deadline = performance.now() + 10_000;
  while (!existsSync(join(dir, "nginx.pid"))) {
    if (performance.now() > deadline || child.exitCode !== null)
      throw new Error("nginx did not start");
    await pause(20);
  }
  return {
    front: `http://127.0.0.1:${front}`,
    bare: `http://127.0.0.1:${bare}`,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
