export interface PartHead {
  name: string;
  filename?: string;
  contentType?: string;
}

/** A part is one `head`, any number of `data`, one `end`. */
export type PartEvent =
  | { kind: "head"; head: PartHead }
  | { kind: "data"; bytes: Buffer }
  | { kind: "end" };

export class MultipartError extends Error {}

const headLimitBytes = 16 * 1024;
const lineEnd = Buffer.from("\r\n");
const headEnd = Buffer.from("\r\n\r\n");

/** `multipart/form-data` (RFC 7578) as it arrives: it keeps back only what may be the start of a boundary. */
export class MultipartParser {
  readonly #delimiter: Buffer;
  /** The first boundary has no line before it; with this one it looks like all the others. */
  #rest: Buffer = Buffer.from(lineEnd);
  #state: "preamble" | "delimiter" | "head" | "body" | "epilogue" = "preamble";

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  *push(chunk: Buffer): Generator<PartEvent> {
    if (this.#state === "epilogue") return;
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (let event = this.#next(); event; event = this.#next()) {
      if (event !== "skipped") yield event;
    }
  }

  /** Throws unless the closing boundary was seen. */
  end(): void {
    if (this.#state !== "epilogue")
      throw new MultipartError("the form ends before its last boundary");
  }

  /** Undefined: more bytes are needed. */
  #next(): PartEvent | "skipped" | undefined {
    switch (this.#state) {
      case "preamble":
      case "body":
        return this.#content();
      case "delimiter":
        return this.#afterDelimiter();
      case "head":
        return this.#head();
      default:
        return undefined;
    }
  }

  #content(): PartEvent | "skipped" | undefined {
    const isBody = this.#state === "body";
    const at = this.#rest.indexOf(this.#delimiter);
    const safe = at < 0 ? this.#rest.length - this.#delimiter.length + 1 : at;
    if (safe > 0) {
      const bytes = this.#take(safe);
      return isBody ? { kind: "data", bytes } : "skipped";
    }
    if (at < 0) return undefined;
    this.#take(this.#delimiter.length);
    this.#state = "delimiter";
    return isBody ? { kind: "end" } : "skipped";
  }

  #afterDelimiter(): "skipped" | undefined {
    if (this.#rest.length < 2) return undefined;
    if (this.#rest.toString("latin1", 0, 2) === "--") {
      this.#rest = Buffer.alloc(0);
      this.#state = "epilogue";
      return "skipped";
    }
    const at = this.#rest.indexOf(lineEnd);
    const padding = this.#rest.toString("latin1", 0, at < 0 ? this.#rest.length : at);
    if (!/^[ \t]*\r?$/.test(padding) || padding.length > headLimitBytes)
      throw new MultipartError("a boundary is followed by other text");
    if (at < 0) return undefined;
    // The line's end stays: a part without any header has its empty line right here.
    this.#take(at);
    this.#state = "head";
    return "skipped";
  }

  #head(): PartEvent | undefined {
    const at = this.#rest.indexOf(headEnd);
    if (at > headLimitBytes || (at < 0 && this.#rest.length > headLimitBytes))
      throw new MultipartError("the headers of a part are too long");
    if (at < 0) return undefined;
    const head = parseHead(this.#take(at + headEnd.length).toString());
    this.#state = "body";
    return { kind: "head", head };
  }

  #take(sizeBytes: number): Buffer {
    const taken = this.#rest.subarray(0, sizeBytes);
    this.#rest = this.#rest.subarray(sizeBytes);
    return taken;
  }
}

export function boundaryOf(contentType: string): string | undefined {
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType);
  return found?.[1] ?? found?.[2];
}

function parseHead(text: string): PartHead {
  const headers = new Map(
    text.split("\r\n").map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const disposition = headers.get("content-disposition") ?? "";
  const parameters = new Map(
    [...disposition.matchAll(/;\s*([\w*]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g)].map(
      ([, name = "", quoted, bare = ""]): [string, string] => [
        name.toLowerCase(),
        quoted === undefined ? bare : unquote(quoted),
      ],
    ),
  );
  const name = parameters.get("name");
  if (!/^form-data\b/i.test(disposition) || name === undefined)
    throw new MultipartError("a part has no name");
  const filename = parameters.get("filename");
  const contentType = headers.get("content-type");
  return {
    name,
    ...(filename !== undefined && { filename }),
    ...(contentType !== undefined && { contentType }),
  };
}

/** Browsers write a quote as %22, curl as \". Any other backslash is part of the name. */
const unquote = (text: string): string => text.replaceAll('\\"', '"').replaceAll("%22", '"');
