import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import { fileAnswer, files, noSuchFile } from "./file-host-files.ts";
import type { StoredFile } from "./file-host-files.ts";
import { html, page } from "./html.ts";
import type { Frame } from "./service.ts";

/** An address on another of these hosts: by its real name for a caller who used one, else by the path that is here. */
function addressAt({ path, headers, baseUrl }: Call, host: string, target: string): string {
  const isCalledByName = path.split("/")[2] === headers.host;
  return isCalledByName ? `https://${host}${target}` : `${baseUrl}/${host}${target}`;
}

const redirect = (status: number, location: string): Answer => ({ status, headers: { location } });

const download = (file: StoredFile | undefined): Answer =>
  file
    ? fileAnswer(file, { "content-disposition": `attachment; filename="${file.name}"` })
    : noSuchFile;

const preview = (host: string, file: StoredFile | undefined): Answer =>
  file
    ? page(
        `${file.name} - ${host}`,
        html`<p>A preview of ${file.name}, and a button to save it.</p>`,
      )
    : {
        ...page(host, html`<p>There is no such file, or it is no longer shared.</p>`),
        status: 404,
      };

/** `sandbox_picture-png` is picture.png; `sandbox_large_picture-png` is the same, as if too large to be scanned. */
const sharedId = /^sandbox_(?<large>large_)?(?<stem>[a-z]+)-(?<extension>\w+)$/;

function shared(id: string | null | undefined): { file?: StoredFile; isLarge: boolean } {
  const parts = sharedId.exec(id ?? "")?.groups;
  const file = parts && files.get(`${parts["stem"]}.${parts["extension"]}`);
  return { isLarge: parts?.["large"] !== undefined, ...(file && { file }) };
}

const scanWarning = (id: string, file: StoredFile): Answer =>
  page(
    "Google Drive - Virus scan warning",
    html`<p>Google Drive can't scan this file for viruses. ${file.name} is too large.</p>
      <form id="download-form" action="https://drive.usercontent.google.com/download" method="get">
        <input type="submit" value="Download anyway" />
        <input type="hidden" name="id" value="${id}" />
        <input type="hidden" name="export" value="download" />
        <input type="hidden" name="confirm" value="t" />
      </form>`,
  );

function googleRoutes({ app, read }: Frame): void {
  const view = read("filehost.drive", ({ params }) =>
    preview("Google Drive", shared(params["id"]).file),
  );
  for (const path of ["/file/d/:id", "/file/d/:id/view", "/file/u/:user/d/:id/view"])
    app.get(`/drive.google.com${path}`, view);
  app.get(
    "/drive.google.com/open",
    read("filehost.drive", (call) =>
      redirect(302, addressAt(call, "drive.google.com", `/file/d/${call.query.get("id")}/view`)),
    ),
  );
  app.get(
    "/drive.google.com/uc",
    read("filehost.drive", (call) => {
      const target = `/download?${call.query.toString()}`;
      return redirect(303, addressAt(call, "drive.usercontent.google.com", target));
    }),
  );
  app.get(
    "/drive.usercontent.google.com/download",
    read("filehost.drive", ({ query }) => {
      const id = query.get("id") ?? "";
      const { file, isLarge } = shared(id);
      return file && isLarge && !query.has("confirm") ? scanWarning(id, file) : download(file);
    }),
  );
}

function dropboxRoutes({ app, read }: Frame): void {
  // Links of the newer kind open only with their rlkey; without it the answer is a page to sign in.
  const isLocked = ({ path, query }: Call): boolean =>
    path.includes("/scl/fi/") && !query.has("rlkey");
  const signIn = page("Dropbox - Sign in", html`<p>Sign in to ask for access.</p>`);
  const named = ({ params }: Call): StoredFile | undefined => files.get(params["name"] ?? "");

  for (const path of ["/s/:key/:name", "/scl/fi/:key/:name"]) {
    app.get(
      `/www.dropbox.com${path}`,
      read("filehost.dropbox", (call) => {
        if (isLocked(call)) return signIn;
        const isDirect = call.query.get("dl") === "1" || call.query.get("raw") === "1";
        if (!isDirect || !named(call)) return preview("Dropbox", named(call));
        const target = call.path.slice("/filehost/www.dropbox.com".length);
        return redirect(302, addressAt(call, "dl.dropboxusercontent.com", target));
      }),
    );
    app.get(
      `/dl.dropboxusercontent.com${path}`,
      read("filehost.dropbox", (call) => (isLocked(call) ? signIn : download(named(call)))),
    );
  }
}

/** `https://1drv.ms/u/s!<id>` and `https://onedrive.live.com/redir?resid=<id>!1`. */
function oneDriveFile(link: string): StoredFile | undefined {
  const url = URL.parse(link);
  if (url?.hostname === "1drv.ms")
    return shared(url.pathname.split("/").at(-1)?.replace(/^s!/, "")).file;
  if (url?.hostname === "onedrive.live.com")
    return shared(url.searchParams.get("resid")?.split("!")[0]).file;
  return undefined;
}

const oneDriveError = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
});

function oneDriveRoutes({ app, read }: Frame): void {
  const link = ({ path }: Call): string => `https:/${path.slice("/filehost".length)}`;
  app.get(
    "/1drv.ms/*",
    read("filehost.onedrive", (call) => {
      const id = call.path.split("?")[0]?.split("/").at(-1)?.replace(/^s!/, "");
      return redirect(301, addressAt(call, "onedrive.live.com", `/redir?resid=${id}!1&authkey=!A`));
    }),
  );
  app.get(
    "/onedrive.live.com/*",
    read("filehost.onedrive", (call) => preview("OneDrive", oneDriveFile(link(call)))),
  );
  app.get(
    "/api.onedrive.com/v1.0/shares/:share/root/content",
    read("filehost.onedrive", (call) => {
      const encoded = /^u!([\w-]+)$/.exec(call.params["share"] ?? "")?.[1];
      if (encoded === undefined)
        return oneDriveError(400, "invalidRequest", "The sharing token is not valid.");
      const file = oneDriveFile(Buffer.from(encoded, "base64url").toString());
      if (!file) return oneDriveError(404, "itemNotFound", "The item does not exist.");
      return redirect(302, addressAt(call, "public.bl.files.1drv.com", `/y4m/${file.name}`));
    }),
  );
  app.get(
    "/public.bl.files.1drv.com/y4m/:name",
    read("filehost.onedrive", ({ params }) => download(files.get(params["name"] ?? ""))),
  );
}

/** Share links as the real hosts have them, each host under its name: `/filehost/www.dropbox.com/s/...`. */
export function shareRoutes(frame: Frame): void {
  googleRoutes(frame);
  dropboxRoutes(frame);
  oneDriveRoutes(frame);
}
