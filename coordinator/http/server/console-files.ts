import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { ServiceError } from "../../../shared/errors.ts";

const BUILD_LIMIT_MS = 120_000;
/** Folders of the console's sources, relative to `web/`. */
const SOURCES = [".", "../sdk/typescript/src"];
type Files = ReadonlyMap<string, Buffer<ArrayBuffer>>;
const NOT_SOURCES = /^(?:dist(?:\.\d+)?|node_modules)(?:[\\/]|$)/;

export type ConsoleFiles = ReturnType<typeof openConsoleFiles>;

/**
 * Opens the files of the console's build in the folder `web`. A package contains the build. In a checkout of the
 * sources, the first request builds the console if the build is missing or older than the sources.
 */
export function openConsoleFiles(web = findWeb(import.meta.dirname), build = runBuild) {
  let ready: Promise<Files> | null = null;

  /** Reads the files once, and builds the console if needed. After a failed build, the next request tries again. */
  const prepare = (): Promise<Files> => {
    ready ??= readFiles(web, build).catch((cause: unknown) => {
      ready = null;
      throw new ServiceError("not_found", "The console is not built: run `npm ci` and `npm run build:web`", { cause });
    });
    return ready;
  };

  return {
    /** Returns a file by its name, or undefined. A name that ends in `.gz` has gzipped content. */
    file: async (name: string): Promise<Buffer<ArrayBuffer> | undefined> => (await prepare()).get(name),

    /** Returns the page for a URL path `depth` folders deep. @throws {ServiceError} `not_found` without a console */
    page: async (depth: number): Promise<string> => {
      const html = (await prepare()).get("index.html")?.toString() ?? "";
      // The base URL is relative: a proxy may add a prefix.
      return html.replace('<base href="./" />', `<base href="${depth === 0 ? "./" : "../".repeat(depth)}" />`);
    },
  };
}

async function readFiles(web: string, build: typeof runBuild): Promise<Files> {
  const dist = join(web, "dist");
  const builtMs = await changedMs(join(dist, "index.html"));
  if (existsSync(join(web, "build.ts"))) {
    const sources = await Promise.all(SOURCES.map((folder) => newestMs(join(web, folder))));
    if (builtMs === null || Math.max(...sources) > builtMs) await build(web);
  } else if (builtMs === null) throw new Error(`No console in ${web}: neither build.ts nor dist/index.html exists`);
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = await Promise.all(
    paths.map(async (path) => [relative(dist, path).replaceAll("\\", "/"), await readFile(path)] as const),
  );
  return new Map(files);
}

/** Finds `web/` next to `coordinator/` in the sources, and next to `dist/` in a package. */
function findWeb(from: string): string {
  const [inSources, inPackage] = [join(from, "../../../web"), join(from, "../../../../web")];
  return existsSync(inSources) ? inSources : inPackage;
}

async function runBuild(web: string): Promise<void> {
  await promisify(execFile)(process.execPath, [join(web, "build.ts")], { timeout: BUILD_LIMIT_MS });
}

async function changedMs(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}

async function newestMs(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const files = names.filter((name) => !NOT_SOURCES.test(name));
  const times = await Promise.all(files.map((name) => changedMs(join(folder, name))));
  return Math.max(0, ...times.map((time) => time ?? 0));
}
