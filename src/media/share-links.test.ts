import assert from "node:assert/strict";
import { test } from "node:test";
import { directLink } from "./share-links.ts";

const drive =
  "https://drive.usercontent.google.com/download?id=1AbCdEfGhIjKl_-9&export=download&confirm=t";

for (const [from, to] of [
  ["https://drive.google.com/file/d/1AbCdEfGhIjKl_-9/view?usp=sharing", drive],
  ["https://drive.google.com/file/u/1/d/1AbCdEfGhIjKl_-9/edit", drive],
  ["https://drive.google.com/open?id=1AbCdEfGhIjKl_-9", drive],
  ["https://drive.google.com/uc?id=1AbCdEfGhIjKl_-9&export=download", drive],
  ["https://docs.google.com/uc?id=1AbCdEfGhIjKl_-9", drive],
  [
    "https://drive.google.com/file/d/1AbCdEfGhIjKl_-9/view?resourcekey=0-x",
    `${drive}&resourcekey=0-x`,
  ],
  ["https://www.dropbox.com/s/abc/cat.png?dl=0", "https://www.dropbox.com/s/abc/cat.png?dl=1"],
  ["https://dropbox.com/s/abc/cat.png", "https://dropbox.com/s/abc/cat.png?dl=1"],
  [
    "https://www.dropbox.com/scl/fi/abc/cat.png?rlkey=k&dl=0",
    "https://www.dropbox.com/scl/fi/abc/cat.png?rlkey=k&dl=1",
  ],
  [
    "https://1drv.ms/u/s!AbC",
    "https://api.onedrive.com/v1.0/shares/u!aHR0cHM6Ly8xZHJ2Lm1zL3UvcyFBYkM/root/content",
  ],
] as const) {
  test(`the file behind ${from} is fetched directly`, () => assert.equal(directLink(from), to));
}

for (const address of [
  "https://drive.google.com.evil.example/file/d/1AbCdEfGhIjKl_-9/view",
  "https://evil-drive.google.com/file/d/1AbCdEfGhIjKl_-9/view",
  "https://drive.google.com:8443/file/d/1AbCdEfGhIjKl_-9/view",
  "https://user@drive.google.com/file/d/1AbCdEfGhIjKl_-9/view",
  "https://evil.example/?u=https://drive.google.com/file/d/1AbCdEfGhIjKl_-9/view",
  "https://drive.google.com/drive/folders/1AbCdEfGhIjKl_-9",
  "https://drive.google.com/",
  "https://wwwXdropbox.com/s/abc/cat.png?dl=0",
  "https://www.dropbox.com.evil.example/s/abc/cat.png?dl=0",
  "https://www.dropbox.com/home",
  "https://1drv.ms.evil.example/u/s!AbC",
  "https://xn--drve-kva.google.com/file/d/1AbCdEfGhIjKl_-9/view",
  "ftp://drive.google.com/file/d/1AbCdEfGhIjKl_-9/view",
  "https://files.example/cat.png?dl=0",
]) {
  test(`${address} stays as it is`, () => assert.equal(directLink(address), address));
}
