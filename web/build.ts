import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build } from "vite";

/**
 * Builds the console into `dist`. Complete files replace those of an earlier build, since a coordinator may be serving
 * them and two builds may run at the same time.
 */
const dist = join(import.meta.dirname, "dist");
const made = `${dist}.${process.pid}`;
try {
  await build({
    configFile: join(import.meta.dirname, "vite.config.ts"),
    logLevel: "warn",
    build: { outDir: made, emptyOutDir: true },
  });
  await compress(made);
  await rm(dist, { recursive: true, force: true });
  await rename(made, dist).catch((error: NodeJS.ErrnoException) => {
    // Another build of the same sources finished first.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  });
} finally {
  await rm(made, { recursive: true, force: true });
}

/** Compresses the files once, instead of for each request. */
async function compress(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.(?:js|css|svg)$/.test(name)) continue;
    const packed = await promisify(gzip)(await readFile(join(folder, name)), { level: 9 });
    await writeFile(join(folder, `${name}.gz`), packed);
  }
}
