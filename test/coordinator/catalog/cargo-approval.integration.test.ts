import { mkdtempSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditTrail } from "../../../coordinator/operators/audit-trail.ts";
import { operatorCargos } from "../../../coordinator/operators/operator-cargos.ts";
import { systemClock } from "../../../shared/clock.ts";
import { COMMIT, DIGEST, PinServer } from "../../support/servers/pin-server.ts";
import { call, until } from "../../support/http/http.ts";
import type { ProgramResult } from "../../support/program.ts";
import { runCommand } from "../../support/run-command.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { CONTAINER_FILE, ONNX_FILE } from "./cargo-builders.ts";

let coordinator: TestCoordinator;
let server: PinServer;
let key: string;
beforeAll(async () => {
  [coordinator, server] = await Promise.all([TestCoordinator.open(), PinServer.start()]);
  ({ key } = await coordinator.createAccount("owner@example.com"));
});
afterAll(() => Promise.all([coordinator[Symbol.asyncDispose](), server.close()]));

const cargo = (...args: string[]): Promise<ProgramResult> => runCommand("cargo", ...args, ...coordinator.locationFlags);
const read = (slug: string) => call(coordinator.url, null, "GET", `/cargos/${slug}`);
const isOffered = (slug: string) =>
  until(
    () => read(slug),
    ({ status }) => status === 200,
    `${slug} is offered`,
  );

describe("coordinator cargo approve", () => {
  it("pins a Cargo with network access, shows all of it, and signs only the revision that was shown", async () => {
    const container = {
      ...CONTAINER_FILE.container,
      image: `${server.host}/guarded/image:1.0`,
      digest: null,
      gpu: true,
    };
    await call(coordinator.url, key, "POST", "/cargos", { ...CONTAINER_FILE, required_vram_mb: 64, container });

    const shown = (await cargo("show", "some-container")).stdout;
    expect(shown).toMatch(/digest +NOT PINNED[^]*network +YES[^]*GPU +yes/);
    expect(shown).toMatch(/state +waits for approval[^]*approval +never[^]*owner +owner@example\.com/);

    const unnamed = await cargo("approve", "some-container", "--allow-private");
    // The operator can paste the line, because it contains the given flags.
    const [, revision = "", flags] =
      /coordinator cargo approve some-container --revision ([0-9a-f]{64})(.*)$/m.exec(unnamed.stderr) ?? [];
    expect(flags).toContain(" --allow-private");
    expect(flags).toContain(coordinator.locationFlags.join(" "));
    expect([unnamed.code, unnamed.stdout]).toEqual([1, expect.stringMatching(/digest +sha256:1{64}\n/)]);
    const byNumber = await cargo("approve", "some-container", "--allow-private", "--revision", "1");
    expect([byNumber.code, byNumber.stderr]).toEqual([1, expect.stringContaining(`--revision ${revision}`)]);
    expect((await read("some-container")).status).toBe(404);

    await call(coordinator.url, key, "PATCH", "/cargos/some-container", { description: "Another program" });
    const stale = await cargo("approve", "some-container", "--allow-private", "--revision", revision);
    expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining("must be the current revision")]);

    await call(coordinator.url, key, "PATCH", "/cargos/some-container", { description: CONTAINER_FILE.description });
    expect(await cargo("approve", "some-container", "--allow-private", "--revision", revision)).toMatchObject({
      code: 0,
    });
    await isOffered("some-container");
    const review = await coordinator.withStore((store) =>
      operatorCargos(store.catalog, [], auditTrail(store.audit, systemClock), systemClock).review("some-container"),
    );
    expect(review).toMatchObject({
      status: "offered",
      revision,
      approval: { revision, by: userInfo().username, file: { container: { digest: DIGEST } } },
    });
  }, 60_000);
});

describe("coordinator cargo approve --all-shipped", () => {
  const folder = mkdtempSync(join(tmpdir(), "atoll-all-shipped-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const config = join(folder, "atoll.toml");
  const run = (...args: string[]): Promise<ProgramResult> => runCommand(...args, "--config", config);
  const statuses = async () => {
    const lines = JSON.parse((await run("cargo", "list", "--json")).stdout) as { slug: string; status: string }[];
    return Object.fromEntries(lines.map(({ slug, status }) => [slug, status]));
  };

  beforeAll(async () => {
    const folderModel = (url: string) => ({ url, sha256: null, size_bytes: null });
    const [container, unpinned] = [CONTAINER_FILE.container, { unpinned_reason: "For a test" }];
    const image = `${server.host}/open/image:1.0`;
    const files = [
      { ...ONNX_FILE, ...unpinned, slug: "on-hub", model: folderModel("hf:owner/repo") },
      { ...ONNX_FILE, ...unpinned, slug: "not-on-hub", model: folderModel("hf:owner/gone") },
      { ...CONTAINER_FILE, ...unpinned, slug: "in-registry", container: { ...container, image, digest: null } },
      JSON.parse(await readFile("catalog/cargos/tiny-chat.json", "utf8")),
    ];
    await mkdir(join(folder, "catalog", "cargos"), { recursive: true });
    for (const file of files)
      await writeFile(join(folder, "catalog", "cargos", `${file.slug}.json`), JSON.stringify(file));
    await writeFile(
      config,
      `data_directory = "${join(folder, "data")}"\ncatalog_directory = "${join(folder, "catalog")}"\n`,
    );
    await run("account", "create", "--email", "op@example.com", "--password", "correct horse");
  });

  it("lists all disabled Cargos, and without a terminal names the command that approves them", async () => {
    const refused = await run("cargo", "approve", "--all-shipped");
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/^on-hub .*hf:owner\/repo .*MIT/m)]);
    expect(refused.stderr).toContain(`coordinator cargo approve --config ${config} --all-shipped --yes`);
    expect(await statuses()).toMatchObject({ "on-hub": "unpinned", "in-registry": "unpinned" });
  });

  it("enables the Cargos whose pin is found even if another one fails, and exits with 1", async () => {
    const flags = ["--yes", "--allow-private", "--hub", server.hub];
    const done = await run("cargo", "approve", "--all-shipped", ...flags);
    expect([done.code, done.stdout]).toEqual([1, expect.stringContaining("on-hub is available to all accounts")]);
    expect(done.stdout).toMatch(/^not-on-hub is still off: \S+ has no such file or repository: owner\/gone$/m);
    expect(done.stderr).toContain("1 of 3 Cargos are still off");
    expect(await statuses()).toMatchObject({ "on-hub": "offered", "in-registry": "offered", "not-on-hub": "unpinned" });
  });

  it("accepts no pin, because a pin belongs to one Cargo", async () => {
    const refused = await run("cargo", "approve", "--all-shipped", "--model-commit", COMMIT);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--all-shipped cannot be combined")]);
    expect((await run("cargo", "approve")).stderr).toBe(
      "No Cargo was given. Give the slug of one Cargo, or --all-shipped\n",
    );
  });
});
