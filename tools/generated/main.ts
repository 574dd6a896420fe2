import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { committedExamples, ExampleCheck } from "./examples.ts";
import { currentFiles, ROOT } from "./files.ts";

/** Writes the files that are generated from the code. With `--check`, it prints the stale files and fails. */
const isCheck = process.argv.includes("--check");
for (const [path, source] of Object.entries(await currentFiles())) {
  const file = join(ROOT, path);
  const isCurrent = (await readFile(file, "utf8").catch(() => null)) === source;
  if (isCurrent) continue;
  if (!isCheck) await writeFile(file, source);
  else {
    process.stderr.write(`${path} is stale; run npm run generate\n`);
    process.exitCode = 1;
  }
}
if (isCheck) {
  for (const operationId of new ExampleCheck().stale(committedExamples())) {
    process.stderr.write(`The example of ${operationId} is stale; run npm run docs:examples\n`);
    process.exitCode = 1;
  }
}
