import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { environment, loadConfig } from "./config.ts";

const example = readFileSync(new URL("../.env.example", import.meta.url), "utf8");
const lines = [...example.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => ({
  name,
  value,
}));

const required = {
  DATABASE_URL: "postgresql:///herald",
  TOKEN_KEYS: `k1:${randomBytes(32).toString("base64url")}`,
  AUTH_SECRET: "x".repeat(32),
};

test(".env.example lists every setting, and nothing else", () => {
  const settings = Object.keys(environment.shape);
  assert.deepEqual(lines.map(({ name }) => name).sort(), settings.sort());
});

test(".env.example shows the defaults", () => {
  const shown = Object.fromEntries(lines.map(({ name, value }) => [name, value]));
  assert.deepEqual(loadConfig({ ...shown, ...required }), loadConfig(required));
});

test("every fault of a configuration is named at once", () => {
  assert.throws(
    () =>
      loadConfig({
        ...required,
        PORT: "seventy",
        OIDC_ISSUERS: "nonsense",
        TOKEN_KEYS: "k1:short",
        AUTH_SECRET: "x",
      }),
    (error: Error) =>
      ["PORT", "OIDC_ISSUERS", "TOKEN_KEYS", "AUTH_SECRET"].every((name) =>
        error.message.includes(name),
      ),
  );
});

test("a fault does not repeat the secret that was given", () => {
  assert.throws(
    () => loadConfig({ ...required, TOKEN_KEYS: "k1:hunter2" }),
    (error: Error) => !error.message.includes("hunter2"),
  );
});

test("the three roots follow from the port, and each can be moved", () => {
  const { urls } = loadConfig({ ...required, PORT: "4000" });
  assert.deepEqual(urls, {
    base: "http://localhost:4000",
    functions: "http://localhost:4000/functions",
    web: "http://localhost:4000",
  });
  const moved = loadConfig({
    ...required,
    BASE_URL: "https://api.example.com/",
    WEB_URL: "https://app.example.com",
  });
  assert.deepEqual(moved.urls, {
    base: "https://api.example.com",
    functions: "https://api.example.com/functions",
    web: "https://app.example.com",
  });
});
