import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { servePublic } from "../middleware/endpoint.ts";
import { data, json } from "../schemas/responses.ts";
import { DOWNLOAD_FORMATS, DownloadFiles, parseDownloadName, type DownloadFile } from "../server/download-files.ts";
import { sendFile } from "../server/send-file.ts";

const HASH_SUFFIX = ".sha256";
const BINARY = { "Content-Type": "application/octet-stream" };

const downloadSchema = z
  .object({
    name: z.string(),
    path: z.string().openapi({ description: "Below the coordinator's address; with .sha256 after it, its hash" }),
    package: z.enum(["island", "client"]).openapi({ description: "The agent of hosts, or the client of programs" }),
    format: z.enum(DOWNLOAD_FORMATS).openapi({
      description: "npm: for `npm install`. deb: for `apt install`. wheel: for `pip install`",
    }),
    version: z.string(),
    size_bytes: z.int(),
    sha256: z.string().openapi({ description: "In hexadecimal" }),
  })
  .openapi("Download");

const downloadsSchema = z
  .object({
    public_url: z
      .string()
      .nullable()
      .openapi({ description: "Address at which other machines reach the coordinator, if the operator set it" }),
    files: z.array(downloadSchema),
  })
  .openapi("Downloads");

const downloadsRoute = createRoute({
  operationId: "listDownloads",
  method: "get",
  path: `${API_BASE}/downloads`,
  summary: "List the packages that the coordinator serves to hosts and clients, newest version first",
  responses: {
    200: json(data(downloadsSchema), "The packages"),
  },
});

/**
 * Serves the packages that the operator put into the folder: GET and HEAD /download/<file> with Range and ETag, and
 * /download/<file>.sha256, which `sha256sum -c` reads. Public.
 */
export function serveDownloads(app: HttpApp, deps: Pick<HttpDeps, "downloadsDirectory" | "options">): void {
  const { downloadsDirectory: root, options } = deps;
  const files = new DownloadFiles(root);

  servePublic(app, downloadsRoute, async ({ c }) =>
    c.json({ data: { public_url: options.publicUrl, files: (await files.list()).map(presentDownload) } }),
  );

  app.get("/download/:name", async (c) => {
    c.get("limits").countAddress(c.env.incoming);
    const asked = c.req.param("name");
    const isHash = asked.endsWith(HASH_SUFFIX);
    const name = isHash ? asked.slice(0, -HASH_SUFFIX.length) : asked;
    const missing = `There is no package "${name}": GET ${API_BASE}/downloads lists those that there are`;
    if (!isHash && parseDownloadName(name) !== undefined) {
      return sendFile(c.env, { root, name, headers: BINARY, missing });
    }
    const file = await files.find(name);
    if (file === undefined) throw new ServiceError("not_found", missing);
    return c.text(`${file.sha256}  ${name}\n`);
  });
}

function presentDownload({ sizeBytes, ...file }: DownloadFile): z.infer<typeof downloadSchema> {
  return { ...file, path: `/download/${file.name}`, size_bytes: sizeBytes };
}
