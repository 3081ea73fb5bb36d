import { Readable } from "node:stream";
import { fileAnswer, files, noSuchFile, patternBytes } from "./file-host-files.ts";
import { redirectRoutes } from "./file-host-redirects.ts";
import { shareRoutes } from "./file-host-shares.ts";
import { troubleRoutes } from "./file-host-troubles.ts";
import type { Service } from "./service.ts";

/** Hosts of files on the internet: honest ones, the pages of share links, and those that lie or break off. */
export const fileHost: Service = {
  name: "filehost",
  basePath: "/filehost",
  routes(frame) {
    const { app, read } = frame;
    app.get(
      "/files/:name",
      read("filehost.file", ({ params }) => {
        const file = files.get(params["name"] ?? "");
        return file ? fileAnswer(file) : noSuchFile;
      }),
    );
    app.get(
      "/bytes/:size(^\\d{1,15}$)",
      read("filehost.bytes", ({ params, query }) => ({
        status: 200,
        headers: {
          "content-type": query.get("type") ?? "application/octet-stream",
          "content-length": String(Number(params["size"])),
        },
        body: Readable.from(patternBytes(Number(params["size"]))),
      })),
    );
    app.get(
      "/status/:code(^[45]\\d\\d$)",
      read("filehost.status", ({ params }) => ({
        status: Number(params["code"]),
        body: { error: "not here" },
      })),
    );
    shareRoutes(frame);
    redirectRoutes(frame);
    troubleRoutes(frame);
  },
};
