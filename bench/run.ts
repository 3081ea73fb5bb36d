// npm run bench -- <name>: one script per question, each prints its figures.
const name = process.argv[2] ?? "";
const known = ["gate", "posts", "media", "templates", "transcribe"];
if (!known.includes(name)) {
  process.stderr.write(`usage: npm run bench -- <${known.join("|")}>\n`);
  process.exit(2);
}
await import(`./${name}.ts`);
