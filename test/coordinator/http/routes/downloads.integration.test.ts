import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { COORDINATORS } from "../../../support/network/several-coordinators.ts";
import { Api } from "../api.ts";

const BYTES = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const NAME = "atoll-island-0.1.0.tgz";

let api: Api;
beforeEach(async () => {
  api = await Api.open({ publicUrl: "https://atoll.example" });
  await writeFile(join(api.directory, NAME), BYTES);
});
afterEach(() => api[Symbol.asyncDispose]());

const fetchFile = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  api.fetch(method, path, { base: "", key: null, headers });
const list = async () => (await api.call("GET", "/downloads", { key: null })).body.data;

describe("GET /downloads", () => {
  it("lists the packages with size and hash, newest version first, and the public address", async () => {
    for (const name of [
      "atoll-island-0.10.0-rc.1.tgz",
      "atoll-island-0.10.0.tgz",
      "atoll-island-0.9.0-rc.1.tgz",
      "atoll-island_0.1.0_amd64.deb",
      "atoll-client-0.1.0.tgz",
      "atoll_client-0.1.0-py3-none-any.whl",
    ]) {
      await writeFile(join(api.directory, name), name);
    }
    for (const name of [
      "atoll-coordinator-0.1.0.tgz",
      "atoll-island-latest.tgz",
      "atoll.db",
      ".atoll-island-1.0.0.tgz",
    ]) {
      await writeFile(join(api.directory, name), "secret");
    }
    await mkdir(join(api.directory, "atoll-island-0.2.0.tgz"));
    const { public_url: address, files } = await list();
    expect(address).toBe("https://atoll.example");
    expect(files.map(({ name }: { name: string }) => name)).toEqual([
      "atoll-island-0.10.0.tgz",
      "atoll-island-0.10.0-rc.1.tgz",
      "atoll-island-0.9.0-rc.1.tgz",
      "atoll_client-0.1.0-py3-none-any.whl",
      "atoll-client-0.1.0.tgz",
      "atoll-island_0.1.0_amd64.deb",
      NAME,
    ]);
    expect(files.at(-1)).toEqual({
      name: NAME,
      path: `/download/${NAME}`,
      package: "island",
      format: "npm",
      version: "0.1.0",
      size_bytes: BYTES.length,
      sha256: SHA256,
    });
  });

  it("hashes a file again after it was replaced", async () => {
    await list();
    await writeFile(join(api.directory, NAME), "other");
    await utimes(join(api.directory, NAME), 1_000, 1_000);
    expect((await list()).files[0].sha256).toBe(createHash("sha256").update("other").digest("hex"));
  });

  it("returns an empty list without a folder", async () => {
    await rm(api.directory, { recursive: true });
    expect((await list()).files).toEqual([]);
    expect((await fetchFile(`/download/${NAME}`)).status).toBe(404);
  });
});

describe("GET /download/<file>", () => {
  it("returns the file without a credential, with Range and ETag", async () => {
    const response = await fetchFile(`/download/${NAME}`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/octet-stream"]);
    expect(Buffer.from(await response.arrayBuffer()).equals(BYTES)).toBe(true);
    const part = await fetchFile(`/download/${NAME}`, {
      range: "bytes=99990-",
      "if-range": response.headers.get("etag") ?? "",
    });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 99990-99999/100000"]);
    expect(Buffer.from(await part.arrayBuffer()).equals(BYTES.subarray(99_990))).toBe(true);
    const head = await fetchFile(`/download/${NAME}`, {}, "HEAD");
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "100000"]);
  });

  it("returns the hash in the format of sha256sum", async () => {
    const folder = await mkdtemp(join(tmpdir(), "atoll-download-"));
    try {
      const response = await fetchFile(`/download/${NAME}.sha256`);
      await writeFile(join(folder, "sum"), await response.text());
      await writeFile(join(folder, NAME), BYTES);
      const { stdout } = await promisify(execFile)("sha256sum", ["-c", "sum"], { cwd: folder });
      expect([response.status, stdout]).toEqual([200, `${NAME}: OK\n`]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each([
    "/download/atoll-island-0.2.0.tgz",
    "/download/atoll-island-0.2.0.tgz.sha256",
    "/download/atoll-coordinator-0.1.0.tgz",
    "/download/secret.txt",
    "/download/secret.txt.sha256",
    `/download/${NAME}.sha256.sha256`,
    `/download/x%2F..%2F${NAME}`,
    `/download/..%2F${NAME}`,
    `/download/${NAME}%00`,
    "/download/",
    "/download",
  ])("returns 404 for %s", async (path) => {
    await writeFile(join(api.directory, "secret.txt"), "secret");
    await writeFile(join(api.directory, "atoll-coordinator-0.1.0.tgz"), "secret");
    const response = await fetchFile(path);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      "not_found",
    ]);
  });

  it("counts towards the limit of the address", async () => {
    await using limited = await Api.open({ publicRequestsPerMinute: 1 });
    const ask = () => limited.fetch("GET", `/download/${NAME}`, { base: "", key: null });
    const answers = [];
    for (let i = 0; i <= COORDINATORS; i += 1) answers.push((await ask()).status);
    expect([answers[0], answers.at(-1)]).toEqual([404, 429]);
  });
});
