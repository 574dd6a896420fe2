import { userInfo } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OperatorCargos } from "../../../coordinator/catalog/operator-cargos.ts";
import { systemClock } from "../../../shared/clock.ts";
import { DIGEST, PinServer } from "../../support/pin-server.ts";
import { call, until } from "../../support/http.ts";
import type { ProgramResult } from "../../support/program.ts";
import { runCommand } from "../../support/run-command.ts";
import { TestCoordinator } from "../../support/test-coordinator.ts";
import { CONTAINER_FILE } from "./cargo-builders.ts";

let coordinator: TestCoordinator;
let server: PinServer;
let key: string;
beforeAll(async () => {
  [coordinator, server] = await Promise.all([TestCoordinator.open(), PinServer.start()]);
  ({ key } = await coordinator.createAccount("owner@example.com"));
});
afterAll(() => Promise.all([coordinator[Symbol.asyncDispose](), server.close()]));

const cargo = (...args: string[]): Promise<ProgramResult> => runCommand("cargo", ...args, ...coordinator.placeFlags);
const read = (slug: string) => call(coordinator.url, null, "GET", `/cargos/${slug}`);
const isOffered = (slug: string) =>
  until(
    () => read(slug),
    ({ status }) => status === 200,
    `${slug} is offered`,
  );

describe("coordinator cargo approve", () => {
  it("pins a Cargo with network, shows all of it, and signs the revision that was shown and no other", async () => {
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
    // The line can be pasted: it has the flags that were given.
    const [, revision = "", flags] =
      /coordinator cargo approve some-container --revision ([0-9a-f]{64})(.*)$/m.exec(unnamed.stderr) ?? [];
    expect(flags).toContain(" --allow-private");
    expect(flags).toContain(coordinator.placeFlags.join(" "));
    expect([unnamed.code, unnamed.stdout]).toEqual([1, expect.stringMatching(/digest +sha256:1{64}\n/)]);
    const byNumber = await cargo("approve", "some-container", "--allow-private", "--revision", "1");
    expect([byNumber.code, byNumber.stderr]).toEqual([1, expect.stringContaining(`--revision ${revision}`)]);
    expect((await read("some-container")).status).toBe(404);

    await call(coordinator.url, key, "PATCH", "/cargos/some-container", { description: "Another program" });
    const stale = await cargo("approve", "some-container", "--allow-private", "--revision", revision);
    expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining("is not revision")]);

    await call(coordinator.url, key, "PATCH", "/cargos/some-container", { description: CONTAINER_FILE.description });
    expect(await cargo("approve", "some-container", "--allow-private", "--revision", revision)).toMatchObject({
      code: 0,
    });
    await isOffered("some-container");
    const review = await coordinator.withStore((store) =>
      new OperatorCargos(store.catalog, [], systemClock).review("some-container"),
    );
    expect(review).toMatchObject({
      status: "offered",
      revision,
      approval: { revision, by: userInfo().username, file: { container: { digest: DIGEST } } },
    });
  }, 60_000);
});
