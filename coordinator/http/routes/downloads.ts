import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { hashOfFile } from "../../catalog/imported-models.ts";
import { API_BASE } from "../http-deps.ts";
import { sendFile } from "../server/send-file.ts";
import { data, json } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";

/** Pattern of a name that is not a hidden file and cannot leave its folder. */
const NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,200}";
const MODEL_FILE = new RegExp(`^${NAME}\\.(?:gguf|wasm|onnx)$`);
/** Paths of files in a model folder, as listed in its `files.json` (docs/reference/cargo-format.md). */
const FILE_OF_FOLDER = new RegExp(
  `^${NAME}(?:/${NAME}){0,5}/${NAME}\\.(?:json|txt|jinja|onnx|onnx_data|onnx_data_\\d{1,3}|pb|bin)$`,
);

const VERSION = String.raw`\d{1,5}\.\d{1,5}\.\d{1,5}(?:-[0-9A-Za-z.]{1,40})?`;
/** Names of the package files that `npm run packages`, `npm run packages:debian` and Python's `build` write. */
const PATTERNS = [
  { format: "npm", pattern: new RegExp(`^atoll-(?<package>island|client)-(?<version>${VERSION})\\.tgz$`) },
  { format: "deb", pattern: new RegExp(`^atoll-(?<package>island)_(?<version>${VERSION})_(?:amd64|arm64)\\.deb$`) },
  { format: "wheel", pattern: new RegExp(`^atoll_(?<package>client)-(?<version>${VERSION})-py3-none-any\\.whl$`) },
] as const;

const DOWNLOAD_FORMATS = PATTERNS.map(({ format }) => format);

const HASH_SUFFIX = ".sha256";
const BINARY = { "Content-Type": "application/octet-stream" };

const downloadSchema = z
  .object({
    name: z.string(),
    path: z.string().describe("Path on the coordinator; with `.sha256` appended, the path of the hash"),
    package: z.enum(["island", "client"]).describe("The agent for hosts, or a client library"),
    format: z
      .enum(DOWNLOAD_FORMATS)
      .describe("`npm` is for `npm install`, `deb` for `apt install`, and `wheel` for `pip install`"),
    version: z.string(),
    size_bytes: z.int(),
    sha256: z.string().describe("SHA-256 in hexadecimal"),
  })
  .openapi("Download");

const downloadsSchema = z
  .object({
    public_url: z
      .string()
      .nullable()
      .describe("URL at which other machines reach the coordinator; null if the operator has not set it"),
    files: z.array(downloadSchema),
  })
  .openapi("Downloads");

/** Public files: models for Islands, and packages that the operator put into a folder. */
export const downloadRoutes = routeGroup("/downloads", { tag: "Service" }, (routes, deps) => {
  const { downloadsDirectory: root, modelDirectories, options } = deps;
  const files = downloadsIn(root);

  routes.get("", {
    id: "listDownloads",
    is: "List the packages that the coordinator serves, newest version first",
    access: "public",
    responses: { 200: json(data(downloadsSchema), "The packages") },
  })(async () => ({ data: { public_url: options.publicUrl, files: (await files.list()).map(presentDownload) } }));

  // GET and HEAD /download/<file>, and /download/<file>.sha256 in the format of `sha256sum -c`.
  routes.app.get("/download/:name", async (c) => {
    c.get("limits").countAddress(c.env.incoming);
    const requested = c.req.param("name");
    const isHash = requested.endsWith(HASH_SUFFIX);
    const name = isHash ? requested.slice(0, -HASH_SUFFIX.length) : requested;
    const missing = `There is no package "${name}". GET ${API_BASE}/downloads lists the packages`;
    if (!isHash && parseDownloadName(name) !== undefined) {
      return sendFile(c.env, { root, name, headers: BINARY, missing });
    }
    const file = await files.find(name);
    if (file === undefined) throw new ServiceError("not_found", missing);
    return c.text(`${file.sha256}  ${name}\n`);
  });

  // GET and HEAD /models/<file> (.gguf, .wasm, .onnx) and /models/<folder>/<path>.
  routes.app.get("/models/:name{.+}", async (c) => {
    c.get("limits").countAddress(c.env.incoming);
    const name = c.req.param("name");
    const missing = `There is no model file "${name}"`;
    if (!MODEL_FILE.test(name) && !FILE_OF_FOLDER.test(name)) throw new ServiceError("not_found", missing);
    const root = await folderWith(name, modelDirectories);
    if (root === undefined) throw new ServiceError("not_found", missing);
    return sendFile(c.env, { root, name, headers: BINARY, missing });
  });
});

function presentDownload({ sizeBytes, ...file }: DownloadFile): z.infer<typeof downloadSchema> {
  return { ...file, path: `/download/${file.name}`, size_bytes: sizeBytes };
}

async function folderWith(name: string, directories: readonly string[]): Promise<string | undefined> {
  const found = await Promise.all(
    directories.map((directory) =>
      stat(join(directory, name)).then(
        (file) => file.isFile(),
        () => false,
      ),
    ),
  );
  return directories[found.indexOf(true)];
}

interface DownloadFile {
  readonly name: string;
  readonly package: "island" | "client";
  readonly format: (typeof DOWNLOAD_FORMATS)[number];
  readonly version: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

function parseDownloadName(name: string): Pick<DownloadFile, "package" | "format" | "version"> | undefined {
  for (const { format, pattern } of PATTERNS) {
    const { package: program, version = "" } = pattern.exec(name)?.groups ?? {};
    if (program !== undefined) return { package: program as DownloadFile["package"], format, version };
  }
  return undefined;
}

/** Finds and lists packages. A file is hashed at its first request, and again only after it has changed. */
function downloadsIn(folder: string) {
  const hashes = new Map<string, { readonly state: string; readonly sha256: Promise<string> }>();

  const hashOf = (name: string, state: string): Promise<string> => {
    const known = hashes.get(name);
    if (known?.state === state) return known.sha256;
    const sha256 = hashOfFile(join(folder, name));
    hashes.set(name, { state, sha256 });
    sha256.catch(() => hashes.delete(name));
    return sha256;
  };

  const find = async (name: string): Promise<DownloadFile | undefined> => {
    const parsed = parseDownloadName(name);
    if (parsed === undefined) return undefined;
    const found = await stat(join(folder, name)).catch(ignoreMissing);
    if (found?.isFile() !== true) return undefined;
    const sha256 = await hashOf(name, `${found.ino} ${found.size} ${found.mtimeMs}`);
    return { name, ...parsed, sizeBytes: found.size, sha256 };
  };

  /** Returns all packages, newest version first; an empty list if the folder does not exist. */
  const list = async (): Promise<DownloadFile[]> => {
    const names = await readdir(folder).catch(ignoreMissing);
    const files = await Promise.all((names ?? []).map(find));
    return files
      .filter((file) => file !== undefined)
      .toSorted((a, b) => compareVersions(b.version, a.version) || compare(a.name, b.name));
  };

  return { find, list };
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}

/** Compares two versions for sorting. A version with a suffix, such as 1.0.0-rc.1, comes before the one without. */
function compareVersions(a: string, b: string): number {
  const [numbersA = "", suffixA = ""] = a.split("-");
  const [numbersB = "", suffixB = ""] = b.split("-");
  return compare(numbersA, numbersB) || Number(suffixA === "") - Number(suffixB === "") || compare(suffixA, suffixB);
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
