// Share links lead to a page; these are the addresses of the files behind them. Hosts match exactly, so a look-alike
// is left as it is.

const googleFile = /^\/file\/(?:u\/\d+\/)?d\/([\w-]{10,100})(?:\/|$)/;
const googleHosts = new Set(["drive.google.com", "docs.google.com"]);
const dropboxHosts = new Set(["www.dropbox.com", "dropbox.com"]);
const oneDriveHosts = new Set(["1drv.ms", "onedrive.live.com"]);

function googleDrive(url: URL): string | null {
  const isById = url.pathname === "/open" || url.pathname === "/uc";
  const id = googleFile.exec(url.pathname)?.[1] ?? (isById ? url.searchParams.get("id") : null);
  if (!id) return null;
  const direct = new URL("https://drive.usercontent.google.com/download");
  direct.search = new URLSearchParams({ id, export: "download", confirm: "t" }).toString();
  const resourceKey = url.searchParams.get("resourcekey");
  if (resourceKey) direct.searchParams.set("resourcekey", resourceKey);
  return direct.href;
}

function dropbox(url: URL): string | null {
  if (!/^\/(?:s|scl\/fi)\//.test(url.pathname)) return null;
  const direct = new URL(url);
  direct.searchParams.delete("raw");
  direct.searchParams.set("dl", "1");
  return direct.href;
}

function oneDrive(url: URL): string {
  const share = Buffer.from(url.href).toString("base64url");
  return `https://api.onedrive.com/v1.0/shares/u!${share}/root/content`;
}

/** The address to download from: the file behind a share link, or the address itself. */
export function directLink(address: string): string {
  const url = new URL(address);
  if (url.protocol !== "https:" && url.protocol !== "http:") return address;
  if (url.port !== "" || url.username !== "" || url.password !== "") return address;
  if (googleHosts.has(url.hostname)) return googleDrive(url) ?? address;
  if (dropboxHosts.has(url.hostname)) return dropbox(url) ?? address;
  if (oneDriveHosts.has(url.hostname)) return oneDrive(url);
  return address;
}
