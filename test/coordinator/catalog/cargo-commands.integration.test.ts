import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cargoOf, readCargoFile } from "../../../coordinator/catalog/cargo-file.ts";
import { cargoSigner } from "../../../coordinator/islands/cargo-signer.ts";
import { verifyEndorsement } from "../../../shared/cargo-signature.ts";
import { call, until } from "../../support/http/http.ts";
import type { ProgramResult } from "../../support/program.ts";
import { runCommand } from "../../support/run-command.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { IS_POSTGRES } from "../../support/servers/test-store-server.ts";
import { ONNX_FILE } from "./cargo-builders.ts";

let coordinator: TestCoordinator;
let directory: string;
beforeAll(async () => {
  coordinator = await TestCoordinator.open({ publicRequestsPerMinute: 1_000_000 });
  directory = await mkdtemp(join(tmpdir(), "atoll-cargos-"));
});
afterAll(async () => {
  await coordinator[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const cargo = (...args: string[]): Promise<ProgramResult> => runCommand("cargo", ...args, ...coordinator.locationFlags);
const statusOf = async (slug: string) => (await call(coordinator.url, null, "GET", `/cargos/${slug}`)).status;

describe("coordinator cargo", () => {
  it("approves, disables, imports and lists while a server runs", async () => {
    const { key } = await coordinator.createAccount("owner@example.com");
    await call(coordinator.url, key, "POST", "/cargos", ONNX_FILE);
    const { stdout } = await cargo("list", "--waiting");
    expect(stdout).toMatch(/^CARGO .*\nsome-onnx +waiting +onnx +owner@example\.com +1\n$/);

    expect(await cargo("approve", "some-onnx", "--revision", "1")).toMatchObject({ code: 0 });
    await until(
      () => statusOf("some-onnx"),
      (status) => status === 200,
      "approved",
    );
    expect(await cargo("disable", "some-onnx")).toMatchObject({ code: 0 });
    await until(
      () => statusOf("some-onnx"),
      (status) => status === 404,
      "disabled",
    );

    const file = join(directory, "ours.json");
    await writeFile(file, JSON.stringify({ ...ONNX_FILE, slug: "ours" }));
    expect(await cargo("import", file)).toMatchObject({
      code: 0,
      stdout: "Imported ours: available to all accounts, pinned. The model or image was not checked\n",
    });
    await until(
      () => statusOf("ours"),
      (status) => status === 200,
      "imported",
    );
    const noted = await coordinator.withStore((store) =>
      store.audit.list({ targetId: "ours" }, { limit: 5, offset: 0 }),
    );
    expect(noted.lines).toMatchObject([{ action: "cargo.import", via: "command" }]);
    const listed = JSON.parse((await cargo("list", "--json")).stdout) as { slug: string; status: string }[];
    const states = new Map(listed.map(({ slug, status }) => [slug, status]));
    expect(["some-onnx", "ours", "tiny-chat"].map((slug) => states.get(slug))).toEqual([
      "disabled",
      "offered",
      "offered",
    ]);
  }, 60_000);

  it.skipIf(IS_POSTGRES)("imports a Cargo with its program, which the coordinator serves and pins", async () => {
    const program = "catalog/models/word-wrap.wasm";
    const content = await readFile(program);
    const sha256 = createHash("sha256").update(content).digest("hex");
    const name = `my-wrap-${sha256.slice(0, 16)}.wasm`;
    const { model: _, ...fields } = JSON.parse(await readFile("catalog/cargos/word-wrap.json", "utf8"));
    const file = join(directory, "my wrap.json");
    await writeFile(file, JSON.stringify({ ...fields, slug: "my-wrap" }));
    const lacking = await cargo("import", file);
    const proposed = `cargo import '${file}' ${coordinator.locationFlags.join(" ")} --file <path>`;
    expect(lacking).toMatchObject({ code: 1, stderr: expect.stringContaining(proposed) });

    for (const source of ["README.md", directory]) {
      const refused = await cargo("import", file, "--file", source);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^\S+: must be a \.?wasm file/)]);
    }
    const imported = await cargo("import", file, "--file", program);
    expect([imported.code, imported.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Imported my-wrap: available to all accounts, pinned\. The coordinator serves .* at \/models\//,
      ),
    ]);
    const served = await fetch(`${coordinator.url}/models/${name}`);
    expect(Buffer.from(await served.arrayBuffer()).equals(content)).toBe(true);
    const { cargo: stored } = JSON.parse((await cargo("show", "my-wrap", "--json")).stdout);
    expect(stored.model).toEqual({ url: `/models/${name}`, sha256, size_bytes: content.length });
  });

  it("changes the price of a shipped Cargo for new jobs, and also shows the shipped price", async () => {
    const { key } = await coordinator.createAccount("payer@example.com", 10);
    const submitted = async () => {
      const body = { workload: "tiny-chat", input: { prompt: "Hi" } };
      expect((await call(coordinator.url, key, "POST", "/jobs", body)).status).toBe(201);
      return (await call(coordinator.url, key, "GET", "/account")).body.data.credits;
    };
    const stdout = "tiny-chat: 0.01 credits per job; 4 / 16 per million tokens\n";
    expect(await cargo("price", "tiny-chat")).toMatchObject({ code: 0, stdout });
    // 2 bytes of prompt and 1,024 tokens, at 4 and 16 credits per million, are held.
    const held = 2 * 4 + 1_024 * 16;
    expect(await submitted()).toBeCloseTo(10 - held / 1e6, 9);
    const set = await cargo("price", "tiny-chat", "0.5");
    expect([set.code, set.stdout]).toEqual([
      0,
      "tiny-chat: 0.5 credits per job (shipped: 0.01); 200 / 800 per million tokens\n",
    ]);
    const priceOf = async () => (await call(coordinator.url, null, "GET", "/cargos/tiny-chat")).body.data.price_per_job;
    // Each of several coordinators reads the change within a second.
    const pricesOf = () => Promise.all(Array.from({ length: 3 }, priceOf));
    const areAll = (expected: number) => (prices: number[]) => prices.every((price) => price === expected);
    await until(pricesOf, areAll(0.5), "the price is 0.5");
    expect(await submitted()).toBeCloseTo(10 - (51 * held) / 1e6, 9);
    expect((await cargo("show", "tiny-chat")).stdout).toContain(
      "0.5 credits per job (shipped: 0.01); 200 / 800 per million tokens, licence MIT",
    );
    expect(JSON.parse((await cargo("price", "tiny-chat", "--reset", "--json")).stdout)).toEqual({
      slug: "tiny-chat",
      price_per_job: 0.01,
      shipped_price_per_job: 0.01,
    });
    await until(pricesOf, areAll(0.01), "the price is the shipped one");
  }, 60_000);

  it.each([
    [["tiny-chat", "much"], 2, 'The price must be a number such as 0.05, got "much"'],
    [["tiny-chat", "1000001"], 1, "price_per_job: must be 0 to 1000000 credits, with at most 6 decimals"],
    [["none", "1"], 1, 'There is no Cargo "none"'],
  ] as const)("rejects the price %j", async (words, code, message) => {
    expect(await cargo("price", ...words)).toEqual({ code, stdout: "", stderr: `${message}\n` });
  });

  it("signs a Cargo's file with a key of the operator's choice, and rejects the file after a change", async () => {
    const [file, keyFile] = [join(directory, "signed.json"), join(directory, "key.pem")];
    const { privateKey } = generateKeyPairSync("ed25519");
    await writeFile(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
    await writeFile(file, JSON.stringify({ ...ONNX_FILE, slug: "signed" }));
    const { stdout } = await runCommand("cargo", "sign", file, "--key", keyFile);
    const read = readCargoFile(stdout);
    if ("errors" in read) throw new Error(JSON.stringify(read.errors));
    const signed = cargoSigner(privateKey).sign(cargoOf(read.file));
    expect(signed.endorsements).toHaveLength(1);
    expect(verifyEndorsement(signed.cargo, signed.endorsements?.[0] ?? { publicKey: "", signature: "" })).toBe(true);
    const changed = readCargoFile(stdout.replace('"q8"', '"fp32"'));
    expect(changed).toEqual({ errors: [{ path: "signatures.0", message: expect.stringContaining("cargo sign") }] });
  }, 60_000);

  it("names the file and field that prevent an import", async () => {
    const file = join(directory, "wrong.json");
    await writeFile(file, JSON.stringify({ ...ONNX_FILE, price_per_job: -1, licence: "" }));
    const { code, stderr } = await cargo("import", file);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${file}: price_per_job: `)]);
    expect(stderr).toContain(`${file}: licence: `);
    expect(await cargo("approve", "none")).toMatchObject({ code: 1, stderr: 'There is no Cargo "none"\n' });
  }, 60_000);
});
