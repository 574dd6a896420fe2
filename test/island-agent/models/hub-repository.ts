import { createHash } from "node:crypto";
import { file, redirect, sha256, type FileServer } from "./file-server.ts";

type Handler = Parameters<FileServer["on"]>[1];

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

export interface RepositoryOptions {
  readonly commit?: string;
  /** Number of list entries on each page. */
  readonly pageSize?: number;
  /** Required token. Other requests are refused. */
  readonly token?: string;
  /** Replaces the true sizes and hashes. */
  readonly lie?: (path: string) => { size?: number; oid?: string };
}

/**
 * Serves a repository as the model hub does: the commit, the list in pages, and the files, with a redirect for large
 * ones.
 */
export class HubRepository {
  readonly server: FileServer;
  readonly name: string;
  readonly commit: string;
  readonly #token: string | null;

  private constructor(server: FileServer, name: string, files: Record<string, Buffer>, options: RepositoryOptions) {
    this.server = server;
    this.name = name;
    this.commit = options.commit ?? COMMIT;
    this.#token = options.token ?? null;
    const { pageSize = 1_000, lie = (): ReturnType<NonNullable<RepositoryOptions["lie"]>> => ({}) } = options;
    this.#on(`/api/models/${name}/revision/main`, (_request, response) =>
      response.end(JSON.stringify({ sha: this.commit })),
    );
    const folders = new Set(Object.keys(files).flatMap((path) => path.split("/").slice(0, -1)));
    const entries = [
      ...[...folders].map((path) => ({ type: "directory", oid: "0".repeat(40), size: 0, path })),
      ...Object.entries(files).map(([path, bytes]) => {
        const { size = bytes.length, oid = sha256(bytes) } = lie(path);
        const lfs = isLarge(path) ? { lfs: { oid, size, pointerSize: 134 } } : {};
        return { type: "file", oid: blobId(bytes), size, path, ...lfs };
      }),
    ];
    const tree = `/api/models/${name}/tree/${this.commit}`;
    this.#on(tree, (request, response) => {
      const start = Number(new URL(request.url ?? "", server.url).searchParams.get("cursor") ?? 0);
      const next = start + pageSize;
      // Acts like a mirror that passes on the address of the original hub.
      const link = `<https://hub.example${tree}?recursive=true&cursor=${next}>; rel="next"`;
      if (next < entries.length) response.setHeader("link", link);
      response.end(JSON.stringify(entries.slice(start, next)));
    });
    for (const [path, bytes] of Object.entries(files)) this.serve(path, file(bytes), bytes);
  }

  /** Adds a repository to a server. */
  static on(
    server: FileServer,
    name: string,
    files: Record<string, Buffer>,
    options: RepositoryOptions = {},
  ): HubRepository {
    return new HubRepository(server, name, files, options);
  }

  /** Returns the path of a file's bytes. */
  bytesAt(path: string): string {
    return isLarge(path) ? `/cdn/${this.name}/${path}` : this.fileAt(path);
  }

  fileAt(path: string): string {
    return `/${this.name}/resolve/${this.commit}/${path.split("/").map(encodeURIComponent).join("/")}`;
  }

  /** Serves a file in another way. */
  serve(path: string, handler: Handler, bytes: Buffer = Buffer.alloc(0)): void {
    if (!isLarge(path)) return this.#on(this.fileAt(path), handler);
    const headers = { "x-linked-etag": `"${sha256(bytes)}"`, "x-linked-size": String(bytes.length) };
    this.#on(
      this.fileAt(path),
      redirect(`${this.server.url}${this.bytesAt(path)}`, 302, bytes.length > 0 ? headers : {}),
    );
    this.server.on(this.bytesAt(path), handler);
  }

  /** Returns the paths of the requested files, in order, with repetitions. */
  fetched(): string[] {
    const prefix = `/${this.name}/resolve/${this.commit}/`;
    const paths = this.server.requests.map(({ path }) => path).filter((path) => path.startsWith(prefix));
    return paths.map((path) => decodeURIComponent(path.slice(prefix.length)));
  }

  #on(path: string, handler: Handler): void {
    this.server.on(path, (request, response, served) => {
      const isKnown = this.#token === null || served.authorization === `Bearer ${this.#token}`;
      if (isKnown) handler(request, response, served);
      else response.writeHead(401).end();
    });
  }
}

function isLarge(path: string): boolean {
  return /\.(?:onnx|onnx_data|bin|safetensors)$/.test(path);
}

/** Source: gitformat. The hub identifies small files only by this hash. */
function blobId(bytes: Buffer): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
