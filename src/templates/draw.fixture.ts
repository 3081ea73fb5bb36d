import { hash } from "node:crypto";
import { createDraw } from "./draw.ts";
import { sample } from "./sample.testing.ts";

// Draws what it is given in a process of its own and prints the digest.
const config = sample.config.parse({ text: process.argv[2] });
const png = await createDraw()(sample, config, "1:1", new Map());
process.stdout.write(hash("sha256", png));
