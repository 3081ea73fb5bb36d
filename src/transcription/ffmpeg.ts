import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { access, chmod, constants } from "node:fs/promises";
import { constants as system, setPriority } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** A file that is no sound or picture, or is damaged beyond reading. */
export class AudioUnreadable extends Error {
  override name = "AudioUnreadable";
  readonly reason: string;
  constructor(reason: string, options?: ErrorOptions) {
    super(`The file can't be decoded: ${reason}`, options);
    this.reason = reason;
  }

  /** A readable file without a sound track. */
  get hasNoSound(): boolean {
    return this.reason.includes("does not contain any stream");
  }
}

// Containers that hold their own sound. What isn't named here isn't opened: playlists and scripts (hls, dash, concat,
// sdp, image patterns) would have ffmpeg open other files and addresses, whatever their file name says.
const containers = [
  ..."mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mp3,wav,w64,ogg,flac,aac,ac3,eac3,amr,aiff,au".split(
    ",",
  ),
  ..."caf,asf,avi,flv,mpeg,mpegts,mpegvideo,dts,wv,tta,ape,mpc,mpc8,gif".split(","),
].join(",");

async function bundled(): Promise<string> {
  const name = `@ffmpeg-installer/${process.platform}-${process.arch}/ffmpeg`;
  const path = fileURLToPath(import.meta.resolve(name));
  // The package sets the bit in an install script, and those may be switched off.
  await access(path, constants.X_OK).catch(async () => await chmod(path, 0o755));
  return path;
}

let found: Promise<string> | undefined;

/** Where ffmpeg is: the system's, else the one of the npm package. */
export async function ffmpegPath(): Promise<string> {
  found ??= promisify(execFile)("/bin/sh", ["-c", "command -v ffmpeg"]).then(
    ({ stdout }) => stdout.trim(),
    async () => await bundled(),
  );
  return await found;
}

export interface Ffmpeg {
  child: ChildProcess & { stdout: NonNullable<ChildProcess["stdout"]> };
  /** Resolves when it has ended well, with what it complained of; rejects with the reason of its failure. */
  ended: Promise<string>;
}

/** Runs ffmpeg over the first sound track of a local file; `output` says what is made of it. */
export async function startFfmpeg(
  path: string,
  output: readonly string[],
  signal?: AbortSignal,
): Promise<Ffmpeg> {
  const input = `file:${resolve(path)}`;
  const guards = ["-protocol_whitelist", "file,pipe", "-format_whitelist", containers];
  const args = ["-nostdin", "-hide_banner", "-v", "error", "-threads", "1", ...guards, "-i", input];
  const child = spawn(
    await ffmpegPath(),
    [...args, "-map", "0:a:0?", "-vn", "-sn", "-dn", "-map_metadata", "-1", ...output],
    { stdio: ["ignore", "pipe", "pipe"], env: {}, signal, killSignal: "SIGKILL" },
  );
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-4_000);
  });
  const ended = new Promise<string>((resolve, reject) => {
    let failure: Error | undefined;
    child.once("error", (error) => (failure = error));
    child.once("close", (code, killer) => {
      const said = complaints.replaceAll(`${input}: `, "").trim();
      if (failure) reject(failure);
      else if (code === 0) resolve(said);
      else
        reject(new AudioUnreadable(said.split("\n").at(-1) || `ffmpeg ended by ${killer ?? code}`));
    });
  });
  // Whoever waits for the output first is not surprised by a failure in the meantime.
  ended.catch(() => undefined);
  if (child.pid !== undefined && child.exitCode === null)
    setPriority(child.pid, system.priority.PRIORITY_BELOW_NORMAL);
  return { child, ended };
}
