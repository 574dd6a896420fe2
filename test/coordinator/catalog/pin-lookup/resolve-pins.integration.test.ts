import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CargoFile } from "../../../../coordinator/catalog/cargo-fields.ts";
import { readCargo } from "../../../../coordinator/catalog/cargo-file.ts";
import { missingPin, type Pins } from "../../../../coordinator/catalog/cargo-pins.ts";
import { resolvePins } from "../../../../coordinator/catalog/pin-lookup/resolve-pins.ts";
import { COMMIT, DIGEST, FILE_HASH, PinServer } from "../../../support/servers/pin-server.ts";
import { CHAT_FILE, CONTAINER_FILE, ONNX_FILE } from "../cargo-builders.ts";

let server: PinServer;
beforeAll(async () => {
  server = await PinServer.start();
});
afterAll(() => server.close());

function fileOf(json: object): CargoFile {
  const read = readCargo(json);
  if ("errors" in read) throw new Error(JSON.stringify(read.errors));
  return read.file;
}
const withImage = (image: string, digest: string | null = null): CargoFile =>
  fileOf({ ...CONTAINER_FILE, container: { ...CONTAINER_FILE.container, image, digest } });
const image = (name: string): CargoFile => withImage(`${server.host}/${name}:1.0`);
const model = (kind: object, url: string): CargoFile =>
  fileOf({ ...kind, model: { url, sha256: null, size_bytes: null } });

const NEVER = new AbortController().signal;
function pin(file: CargoFile, given: Pins = {}, signal = NEVER, allowPrivate = true): Promise<CargoFile> {
  return resolvePins(file, given, { hub: server.hub, allowPrivate, catalogDirectory: "catalog" }, signal);
}
const refusal = (pinning: Promise<CargoFile>): Promise<string> =>
  pinning.then(
    () => "",
    (error: Error) => error.message,
  );

describe("resolvePins()", () => {
  it("reads an image's digest from its registry, with a token if required", async () => {
    expect((await pin(image("open/image"))).container?.digest).toBe(DIGEST);
    server.requests.length = 0;
    expect((await pin(image("guarded/image"))).container?.digest).toBe(DIGEST);
    const manifest = "HEAD /v2/guarded/image/manifests/1.0";
    expect(server.requests).toEqual([manifest, "GET /token", manifest]);
  });

  it("rejects an image whose digest it cannot read, and names the pin", async () => {
    expect(await refusal(pin(image("other/image")))).toMatch(/has no image .*the digest of its image \(sha256:/);
    expect(await refusal(pin(image("bare/image")))).toMatch(/returned no SHA-256 digest .*the digest of its image/);
    expect(await refusal(pin(image("closed/image")))).toMatch(
      /returned no token \(status 403\).*the digest of its image/,
    );
    expect(await refusal(pin(withImage("127.0.0.1:1/open/image:1.0")))).toMatch(
      /127\.0\.0\.1:1 did not respond: .*the digest of its image/,
    );
  });

  it("does not wait for a silent registry", async () => {
    const limit = new AbortController();
    const pinning = refusal(pin(image("silent/image"), {}, limit.signal));
    await expect.poll(() => server.requests).toContain("HEAD /v2/silent/image/manifests/1.0");
    limit.abort();
    expect(await pinning).toMatch(/did not respond: the look-up timed out/);
  });

  it("abandons a silent host after 2 s, names it, and does not query it for the next Cargo", async () => {
    const sources = {
      hub: server.hub,
      allowPrivate: true,
      catalogDirectory: "catalog",
      silentHosts: new Set<string>(),
    };
    const first = await refusal(resolvePins(image("silent/image"), {}, sources, NEVER));
    expect(first).toContain(`${server.host} did not respond: no response within 2 s`);
    server.requests.length = 0;
    const second = await refusal(resolvePins(image("open/image"), {}, sources, NEVER));
    expect(second).toContain(`${server.host} did not respond to an earlier look-up`);
    expect(server.requests).toEqual([]);
  });

  it("queries no local address for an unreviewed Cargo", async () => {
    server.requests.length = 0;
    expect(await refusal(pin(image("open/image"), {}, NEVER, false))).toMatch(/is not allowed: it does not use TLS/);
    const inside = withImage("10.0.0.7/open/image:1.0");
    expect(await refusal(pin(inside, {}, NEVER, false))).toMatch(/10\.0\.0\.7 is a private address/);
    expect(server.requests).toEqual([]);
  });

  it("reads a file's hash and a folder's commit from the hub, and the hash of the coordinator's own file", async () => {
    expect((await pin(model(CHAT_FILE, "hf:owner/repo:file.gguf"))).model?.sha256).toBe(FILE_HASH);
    expect((await pin(model(ONNX_FILE, "hf:owner/repo"))).model?.url).toBe(`hf:owner/repo#${COMMIT}`);
    expect((await pin(model(ONNX_FILE, "hf:owner/repo#main"))).model?.url).toBe(`hf:owner/repo#${COMMIT}`);
    const own = await pin(model(CHAT_FILE, "/models/tiny-islander.gguf"));
    const hash = createHash("sha256").update(readFileSync("catalog/models/tiny-islander.gguf")).digest("hex");
    expect(own.model?.sha256).toBe(hash);
  });

  it("rejects a model without a known hash, and says what to do", async () => {
    const cases: [CargoFile, RegExp][] = [
      [
        model(CHAT_FILE, "hf:owner/repo:other.gguf"),
        /no such file or repository: owner\/repo.*the SHA-256 of its file/,
      ],
      [model(CHAT_FILE, "hf:owner/repo:Q4_K_M"), /must name a file of owner\/repo.*the SHA-256 of its file/],
      [model(ONNX_FILE, "hf:owner/gone"), /no such file or repository: owner\/gone.*the commit of its folder/],
      [model(CHAT_FILE, "https://example.com/a.gguf"), /example\.com is not a model hub.*the SHA-256 of its file/],
      [model(CHAT_FILE, "/models/../cargos/tiny-chat.json"), /is not below \/models\//],
    ];
    for (const [file, text] of cases) expect(await refusal(pin(file))).toMatch(text);
  });

  it("accepts a matching pin given by hand without a look-up, and rejects any other", async () => {
    server.requests.length = 0;
    const digest = `sha256:${"9".repeat(64)}`;
    const pinned = await pin(image("other/image"), { imageDigest: digest });
    expect([pinned.container?.digest, missingPin(pinned)]).toEqual([digest, null]);
    expect(await refusal(pin(image("other/image"), { modelHash: FILE_HASH }))).toMatch(
      /must be pinned with the digest of its image/,
    );
    expect(await refusal(pin(image("other/image"), { imageDigest: "latest" }))).toMatch(
      /"latest" is not the digest of its image/,
    );
    const other = withImage("docker.io/a/b:1.0", DIGEST);
    expect(await refusal(pin(other, { imageDigest: digest }))).toMatch(/is already pinned to sha256:1+/);
    expect(server.requests).toEqual([]);
  });
});
