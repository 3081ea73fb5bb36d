import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../test/helpers/until.ts";
import { decode, probe } from "./decode.ts";
import { AudioUnreadable } from "./ffmpeg.ts";
import { ffmpeg, processesWith, temporaryFolder, tone, writeWav } from "./speech.testing.ts";

const dir = await temporaryFolder();
const wav = await writeWav(join(dir, "tone.wav"), 3, tone);

test("samples are 16 kHz mono, as loud as in the file", async () => {
  const samples: number[] = [];
  for await (const chunk of decode(wav)) samples.push(...chunk);
  assert.equal(samples.length, 48_000);
  assert.ok(Math.abs(Math.max(...samples) - 0.4) < 0.01);
});

const encodings: Record<string, string[]> = {
  mp3: ["-c:a", "libmp3lame"],
  m4a: ["-c:a", "aac"],
  mp4: ["-c:a", "aac"],
  mov: ["-c:a", "aac"],
  ogg: ["-c:a", "libopus"],
  webm: ["-c:a", "libopus"],
  flac: ["-c:a", "flac"],
  wav: ["-c:a", "pcm_s24le", "-ar", "44100", "-ac", "2"],
};

for (const [extension, encoding] of Object.entries(encodings))
  test(`${extension} is measured to a tenth of a second`, async () => {
    const path = join(dir, `encoded.${extension}`);
    await ffmpeg("-i", wav, ...encoding, path);
    const { seconds, hasAudio } = await probe(path);
    assert.ok(hasAudio);
    assert.ok(Math.abs(seconds - 3) < 0.1, `${seconds} s`);
  });

test("only the first sound track is decoded", async () => {
  const path = join(dir, "tracks.mp4");
  const silence = ["-f", "lavfi", "-t", "1", "-i", "anullsrc=r=16000:cl=mono"];
  await ffmpeg(...silence, "-i", wav, "-map", "0:a", "-map", "1:a", "-c:a", "aac", path);
  const { seconds } = await probe(path);
  assert.ok(Math.abs(seconds - 1) < 0.1, `${seconds} s`);
});

test("decoding ends where it is told to", async () => {
  assert.deepEqual(await probe(wav, { maxSeconds: 1.5 }), { seconds: 1.5, hasAudio: true });
});

test("a file without sound has no samples and is no error", async () => {
  const path = join(dir, "silent.mp4");
  await ffmpeg("-f", "lavfi", "-t", "1", "-i", "color=s=32x32", path);
  assert.deepEqual(await probe(path), { seconds: 0, hasAudio: false });
});

test("broken files are refused with a reason that names no path", async () => {
  const bodies = {
    "noise.mp4": Buffer.alloc(5_000, "noise"),
    "empty.mp3": Buffer.alloc(0),
    "cut.m4a": Buffer.from(
      "\0\0\0\x20ftypM4A \0\0\0\0M4A mp42isom\0\0\0\0\0\0\x20\0mdat",
      "latin1",
    ),
  };
  for (const [name, body] of Object.entries(bodies)) {
    await writeFile(join(dir, name), body);
    await assert.rejects(probe(join(dir, name)), (error) => {
      assert.ok(error instanceof AudioUnreadable, String(error));
      assert.ok(error.reason.length > 5 && !error.message.includes(dir), error.message);
      return true;
    });
  }
});

test("no playlist makes it open an address or another file", async (t) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.end();
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const playlist = (...entries: string[]): string =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:3\n${entries.map((entry) => `#EXTINF:3,\n${entry}\n`).join("")}#EXT-X-ENDLIST\n`;
  const script = (...entries: string[]): string =>
    `ffconcat version 1.0\n${entries.map((entry) => `file ${entry}\n`).join("")}`;
  const address = `http://127.0.0.1:${port}/a.ts`;
  const bodies = [
    playlist(address),
    playlist("file:///etc/hostname", "/etc/hostname"),
    playlist("tone.wav"),
    playlist(`concat:/etc/hostname|${address}`, `subfile,,start,0,end,9,,:/etc/hostname`),
    script("tone.wav"),
    script("/etc/hostname", address),
    `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio ${port} RTP/AVP 0\n`,
    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" type="static"><Period><AdaptationSet mimeType="audio/mp4"><Representation id="1" bandwidth="1"><BaseURL>${address}</BaseURL></Representation></AdaptationSet></Period></MPD>`,
  ];
  for (const [index, body] of bodies.entries()) {
    for (const extension of ["m3u8", "ffconcat", "sdp", "mpd", "mp3", "mp4"]) {
      const path = join(dir, `hostile-${index}.${extension}`);
      await writeFile(path, body);
      await assert.rejects(probe(path), AudioUnreadable, body);
    }
  }
  assert.deepEqual(asked, []);
});

test("names that mean something to ffmpeg are names of files", async () => {
  for (const name of ["concat:tone.wav|tone.wav", "-version", "http://127.0.0.1:9/a.wav"])
    await assert.rejects(probe(name), (error) => {
      assert.ok(error instanceof AudioUnreadable, String(error));
      assert.match(error.reason, /No such file/);
      return true;
    });
});

test("an aborted signal ends ffmpeg in the middle of a file", async () => {
  const path = await writeWav(join(dir, "aborted.wav"), 120, tone);
  const stop = new AbortController();
  const samples = decode(path, { signal: stop.signal });
  await samples.next();
  assert.equal(processesWith("ffmpeg", path).length, 1);
  stop.abort();
  const readOn = async (): Promise<void> => {
    while (!(await samples.next()).done);
  };
  await assert.rejects(readOn(), { name: "AbortError" });
  await until(() => processesWith("ffmpeg", path).length === 0);
});

test("ffmpeg is gone when the reader has had enough", async () => {
  const path = await writeWav(join(dir, "left.wav"), 120, tone);
  for await (const samples of decode(path)) {
    assert.ok(samples.length > 0);
    assert.equal(processesWith("ffmpeg", path).length, 1);
    break;
  }
  assert.equal(processesWith("ffmpeg", path).length, 0);
});
