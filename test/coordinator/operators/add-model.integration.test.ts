import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findModel } from "../../../coordinator/catalog/add-model/find-model.ts";
import { type HubPolicy, openHubRequests } from "../../../coordinator/catalog/add-model/hub-requests.ts";
import { parseModelSource } from "../../../coordinator/catalog/add-model/model-source.ts";
import { previewModel, type PreviewOptions } from "../../../coordinator/operators/add-model.ts";
import { encodeGguf } from "../../support/models/gguf-file.ts";
import { makeTinyGguf } from "../../support/models/tiny-gguf.ts";
import { makeTinyTextGguf } from "../../support/models/tiny-text-gguf.ts";
import { splitGguf } from "../../support/models/split-gguf.ts";
import { HubServer, sendRange } from "../../support/servers/hub-server.ts";
import { sha256 } from "../../island-agent/models/file-server.ts";

const TINY = readFileSync(join(import.meta.dirname, "../../../catalog/models/tiny-islander.gguf"));
const PARTS = await splitGguf(TINY, 3);
const PROJECTOR = encodeGguf({ "general.architecture": { type: "string", value: "clip" } }, [
  { name: "mm.0.weight", dims: [4, 4] },
]);
const SPLIT = Object.fromEntries(
  PARTS.map((bytes, index) => [`Q4_K_M/tiny-Q4_K_M-0000${index + 1}-of-00003.gguf`, bytes]),
);

let hub: HubServer;
let directory: string;
beforeAll(async () => {
  hub = await HubServer.start();
  directory = await mkdtemp(join(tmpdir(), "atoll-add-"));
  hub.put(
    "maker/Tiny-GGUF",
    { ...SPLIT, "mmproj-F16.gguf": PROJECTOR, "README.md": Buffer.from("# Tiny") },
    { licence: "mit" },
  );
  hub.put("maker/plain-gguf", { "plain.gguf": TINY });
  hub.put("maker/embed", { "embed.Q8_0.gguf": makeTinyTextGguf() });
  hub.put("maker/rank", { "rank.gguf": makeTinyTextGguf({ pooling: "rank" }) });
  hub.put("library/tiny", { "tiny.gguf": TINY, LICENSE: Buffer.from("\nApache License\nVersion 2.0") });
});
afterEach(() => hub.heal());
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const preview = (source: string, options: PreviewOptions = {}, policy: Partial<HubPolicy> = {}, limitMs = 60_000) =>
  previewModel(
    source,
    options,
    { hub: hub.url, allowPrivate: true, token: null, ...policy },
    AbortSignal.timeout(limitMs),
  );

describe("previewModel()", () => {
  it("pins all files of a split model and its projector to the commit and hashes of the hub, without downloading them", async () => {
    const { file, found } = await preview("hf.co/maker/Tiny-GGUF:q4_k_m");
    const { commit } = found;
    const refOf = (path: string, bytes: Buffer) => ({
      url: `hf:maker/Tiny-GGUF/${path}#${commit}`,
      sha256: sha256(bytes),
      size_bytes: bytes.length,
    });
    const [model, ...parts] = Object.entries(SPLIT).map(([path, bytes]) => refOf(path, bytes));
    expect(file).toMatchObject({
      slug: "tiny",
      licence: "mit",
      model,
      parts,
      projector: refOf("mmproj-F16.gguf", PROJECTOR),
      quantization: "Q4_K_M",
      parameters: "1.1M",
      context_tokens: 1_024,
      required_ram_mb: 256,
      required_vram_mb: 0,
      memory: { layers: 5, kv_heads: 2, head_dim: 32, vocabulary: 1_024, sequences: 4 },
    });
    expect(found.isGated).toBe(false);
  });

  it("computes memory for the operator's context and slots, and takes slug and price", async () => {
    const options = { contextTokens: 512, slots: 16, slug: "ours", price: 0.5 };
    const { file } = await preview("hf.co/maker/plain-gguf", options);
    expect(file).toMatchObject({ slug: "ours", price_per_job: 0.5, context_tokens: 512, licence: "mit" });
    await expect(preview("hf.co/maker/plain-gguf", { contextTokens: 4_096 })).rejects.toThrow(
      "The model was trained for 1024 tokens of context, fewer than 4096",
    );
  });

  it("leaves out the projector, and reads a named file of a branch", async () => {
    const { file } = await preview(`${hub.url}/maker/Tiny-GGUF/resolve/main/${Object.keys(SPLIT)[0]}`, {
      projector: false,
    });
    expect(file).not.toHaveProperty("projector");
    expect(file.parts).toHaveLength(2);
  });

  it("makes Cargos for embeddings and for ranking", async () => {
    expect((await preview("hf.co/maker/embed")).file).toMatchObject({ task: "feature-extraction", category: "text" });
    expect((await preview("hf.co/maker/rank")).file).toMatchObject({ task: "text-ranking" });
  });

  it("reads a split model on disk, with a named projector, for the coordinator to serve", async () => {
    for (const [index, bytes] of PARTS.entries()) {
      await writeFile(join(directory, `tiny-Q8_0-0000${index + 1}-of-00003.gguf`), bytes);
    }
    const projector = join(directory, "eyes.gguf");
    await writeFile(projector, PROJECTOR);
    const source = join(directory, "tiny-Q8_0-00001-of-00003.gguf");
    const { file, found } = await preview(source, { projector });
    const [first = PARTS[0]] = PARTS;
    expect(file).toMatchObject({
      slug: "tiny-q8_0",
      model: { url: `/models/tiny-q8_0-${sha256(first as Buffer).slice(0, 16)}.gguf`, size_bytes: first?.length },
      projector: { sha256: sha256(PROJECTOR) },
      parts: [{ sha256: sha256(PARTS[1] as Buffer) }, { sha256: sha256(PARTS[2] as Buffer) }],
    });
    expect(found.place).toBe(source);
    await writeFile(join(directory, "tiny-Q8_0-00003-of-00003.gguf"), PARTS[1] as Buffer);
    await expect(preview(source)).rejects.toThrow("tiny-Q8_0-00003-of-00003.gguf is not part 3 of the model");
  });

  it("finds a model of Ollama's library by the digest of its layer, in a registry that the operator names", async () => {
    const registry = new URL(hub.url);
    const search = preview(`ollama:${registry.origin}/library/tiny:1b`, {}, { hub: "https://huggingface.co" });
    // A Cargo's address must be https, which the test's registry has not.
    await expect(search).rejects.toMatchObject({ details: [{ path: "model.url" }] });
    expect(hub.requests.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["/v2/library/tiny/manifests/1b", `/v2/library/tiny/blobs/sha256:${sha256(TINY)}`]),
    );
  });

  it("takes hashes, projector and licence from the layers of a registry", async () => {
    hub.put("library/eyes", {
      "eyes.gguf": TINY,
      "mmproj.gguf": PROJECTOR,
      LICENSE: Buffer.from("\n Apache License \n2.0"),
    });
    const source = parseModelSource(`ollama:${hub.url}/library/eyes:1b-q8_0`, "https://huggingface.co");
    const policy = { hub: hub.url, allowPrivate: true, token: null };
    const found = await findModel(source, hub.url, openHubRequests(policy, AbortSignal.timeout(10_000)));
    expect(found).toMatchObject({
      name: "eyes-1b-q8_0",
      quantization: "Q8_0",
      licence: "Apache License",
      model: {
        sha256: sha256(TINY),
        sizeBytes: TINY.length,
        url: `${hub.url}/v2/library/eyes/blobs/sha256:${sha256(TINY)}`,
      },
      projector: { sha256: sha256(PROJECTOR) },
    });
  });

  it("sends the token only to the hub, and needs it for a gated model", async () => {
    hub.put("maker/gated", { "gated.gguf": TINY }, { token: "secret", licence: "llama3.1" });
    const gated = (token: string | null) => preview("hf.co/maker/gated", {}, { token });
    await expect(gated(null)).rejects.toThrow("For a gated model, accept its terms on the hub and set HF_TOKEN");
    await expect(gated("wrong")).rejects.toThrow("to the owner of HF_TOKEN. Accept its terms on the hub");
    hub.requests.length = 0;
    expect((await gated("secret")).found).toMatchObject({ isGated: true, licence: "llama3.1" });
    const tokens = Map.groupBy(hub.requests, ({ path }) => path.includes("signature="));
    expect(tokens.get(false)?.every(({ token }) => token === "secret")).toBe(true);
    expect(tokens.get(true)?.map(({ token }) => token)).toEqual([undefined]);
  });

  it("refuses a redirect to other hosts than those of the hub, and private ones unless they are allowed", async () => {
    await expect(preview("hf.co/maker/plain-gguf", {}, { allowPrivate: false })).rejects.toThrow(
      /^127\.0\.0\.1:\d+ redirects to 127\.0\.0\.1:\d+, which is not a host of its files$/,
    );
    for (const location of [
      "https://evil.example/x",
      "http://huggingface.co/x",
      "https://huggingface.co.evil.example/x",
    ]) {
      hub.fail(/resolve/, (_request, response) => response.writeHead(302, { location }).end());
      await expect(preview("hf.co/maker/plain-gguf")).rejects.toThrow("which is not a host of its files");
    }
    hub.fail(/resolve/, (request, response) => response.writeHead(302, { location: request.url }).end());
    await expect(preview("hf.co/maker/plain-gguf")).rejects.toThrow("redirects plain.gguf more than 5 times");
  });

  it("refuses a hub with a private address that the operator has not named", async () => {
    const policy = { hub: "https://huggingface.co", allowPrivate: false, addressesOf: async () => ["10.0.0.1"] };
    await expect(preview("hf.co/maker/plain-gguf", {}, policy)).rejects.toMatchObject({
      message: "https://huggingface.co is not allowed: huggingface.co has a private address",
      isPrivate: true,
    });
  });

  it("refuses a registry with a private address, although the source names it, unless it is allowed", async () => {
    hub.requests.length = 0;
    const local = new URL(hub.url).host;
    for (const [origin, problem] of [
      [`http://${local}`, "it does not use TLS"],
      [`https://${local}`, "127.0.0.1 is a private address"],
    ]) {
      const search = preview(`ollama:${origin}/library/tiny:1b`, {}, { allowPrivate: false });
      await expect(search).rejects.toThrow(`${origin} is not allowed: ${problem}`);
    }
    expect(hub.requests).toEqual([]);
  });

  it.each<[string, RegExp, Parameters<HubServer["fail"]>[1], string]>([
    [
      "an unknown repository",
      /api\/models/,
      (_q, response) => response.writeHead(404).end(),
      "does not have maker/plain-gguf",
    ],
    [
      "too many requests",
      /api\/models/,
      (_q, response) => response.writeHead(429, { "retry-after": "30" }).end(),
      "received too many requests. Repeat the command in 30 s",
    ],
    ["a server error", /tree/, (_q, response) => response.writeHead(503).end(), "responded with 503"],
    ["a commit that is none", /revision/, (_q, response) => response.end('{"sha":"main"}'), "returned no commit for"],
    ["a list that is none", /tree/, (_q, response) => response.end("{}"), "returned no list of files"],
    [
      "a document without end",
      /tree/,
      (_q, response) => response.end("x".repeat(5_000_000)),
      "sent more than 4000000 bytes",
    ],
    [
      "a list without end",
      /tree/,
      (_q, response) => response.setHeader("link", '<?a=b>; rel="next"').end("[]"),
      "has too many files",
    ],
    [
      "the whole file",
      /signature/,
      (_q, response) => response.writeHead(200).end(TINY),
      "does not send ranges of plain.gguf",
    ],
    [
      "a longer range",
      /signature/,
      (_q, response) => response.writeHead(206, { "content-range": `bytes 0-9/${TINY.length}` }).end(Buffer.alloc(3e6)),
      "sent more than 2000000 bytes",
    ],
    [
      "a file of another length",
      /signature/,
      (request, response) => sendRange(Buffer.concat([TINY, TINY]), request, response),
      `changed plain.gguf during the look-up: it has ${TINY.length * 2} bytes, the list says ${TINY.length}`,
    ],
    [
      "a file of another revision",
      /resolve/,
      (_q, response) =>
        response
          .writeHead(206, { "content-range": `bytes 0-9/${TINY.length}`, "x-repo-commit": "f".repeat(40) })
          .end("0123456789"),
      "it belongs to another revision. Repeat the command",
    ],
    [
      "bytes that are no GGUF file",
      /signature/,
      (request, response) => sendRange(Buffer.alloc(TINY.length), request, response),
      "plain.gguf cannot be read: not a valid gguf file",
    ],
  ])("refuses %s", async (_title, path, handler, message) => {
    hub.fail(path, handler);
    await expect(preview("hf.co/maker/plain-gguf")).rejects.toThrow(message);
  });

  it("ignores files that an address of a Cargo cannot name", async () => {
    const files = Object.fromEntries(["../x.gguf", "a b.gguf", "a#b.gguf", "/x.gguf"].map((path) => [path, TINY]));
    hub.put("maker/odd", files);
    await expect(preview("hf.co/maker/odd")).rejects.toThrow("hf.co/maker/odd has no GGUF file of a model");
  });

  it("stops at the time limit when the hub stalls", async () => {
    hub.fail(/signature/, (_request, response) => {
      response.writeHead(206, { "content-range": `bytes 0-1999999/${TINY.length}` });
      response.write("GGUF");
    });
    await expect(preview("hf.co/maker/plain-gguf", {}, {}, 2_000)).rejects.toThrow("timed out");
  });

  it("bounds the header, and refuses files that are not a language model", async () => {
    const huge = Array.from({ length: 20 }, (_, index) => [
      `key.${index}`,
      { type: "string", value: "x".repeat(2_000_000) },
    ]);
    hub.put("maker/huge", {
      "huge.gguf": encodeGguf(Object.fromEntries(huge) as Parameters<typeof encodeGguf>[0], []),
    });
    await expect(preview("hf.co/maker/huge")).rejects.toThrow("huge.gguf has a header of more than 30.5 MiB");
    hub.put("maker/eyes", { "eyes.gguf": PROJECTOR });
    await expect(preview("hf.co/maker/eyes")).rejects.toThrow("eyes.gguf is not a language model");
    hub.put("maker/shapeless", { "a.gguf": makeTinyGguf({ without: ["llama.block_count"] }) });
    await expect(preview("hf.co/maker/shapeless")).rejects.toThrow("a.gguf lacks llama.block_count in its header");
    hub.put("maker/blind", { "a.gguf": TINY, "mmproj-a.gguf": TINY });
    await expect(preview("hf.co/maker/blind")).rejects.toThrow("mmproj-a.gguf is not a projector for images");
    expect((await readdir(directory)).every((name) => name.endsWith(".gguf"))).toBe(true);
  });
});
