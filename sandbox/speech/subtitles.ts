import type { Segment } from "./transcript.ts";

function stamp(seconds: number, mark: "," | "."): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const clock = `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}`;
  return `${clock}${mark}${String(ms % 1000).padStart(3, "0")}`;
}

export function srt(segments: readonly Segment[]): string {
  return segments
    .map(
      ({ start, end, text }, index) =>
        `${index + 1}\n${stamp(start, ",")} --> ${stamp(end, ",")}\n${text}\n\n`,
    )
    .join("");
}

export function vtt(segments: readonly Segment[]): string {
  const cues = segments.map(
    ({ start, end, text }) => `${stamp(start, ".")} --> ${stamp(end, ".")}\n${text}\n\n`,
  );
  return `WEBVTT\n\n${cues.join("")}`;
}
