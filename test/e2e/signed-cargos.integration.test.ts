import { generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { Network } from "../support/network/network.ts";
import { Program, runProgram } from "../support/program.ts";
import { runCommand } from "../support/run-command.ts";
import { unlessSeveral } from "../support/network/several-coordinators.ts";
import { smallCatalog } from "../support/small-catalog.ts";
import { IS_POSTGRES } from "../support/store/test-store.ts";

interface SigningKey {
  readonly fingerprint: string;
  readonly public_key: string;
}

let network: Network;
let token: string;
beforeAll(async () => {
  network = await Network.open(["--port", String(await freePort())]);
  token = network.createAccount("owner@example.com").islandToken;
});
afterAll(() => network[Symbol.asyncDispose]());

const joinIsland = (...more: string[]) =>
  runProgram("island", "join", network.url, "--token", token, "--data", network.islandData("a"), ...more);
/** The Island has only the fastest runtime, because probing all takes 3 s of a core, and preloads nothing. */
const startIsland = (): Program =>
  new Program("island", ["start", "--data", network.islandData("a"), "--log-level", "silent"], {
    ISLAND_CARGOS_ALLOW_RUNTIMES: "wasm",
    ISLAND_MODELS_PRELOAD: "false",
  });

describe("the signing key of a coordinator", () => {
  it(
    ...unlessSeveral(
      "stops an Island when it changes, until the Island joins again with the new fingerprint",
      "one restarts",
    ),
    async () => {
      const before = await network.manage<SigningKey>("signing-key", "show");
      const joined = await joinIsland();
      expect(joined.stdout).toContain(before.fingerprint);
      expect(await readFile(join(network.islandData("a"), "config.toml"), "utf8")).toContain(before.public_key);
      await using island = startIsland();
      await island.printed(/connected to/);

      // After a restart the Island reconnects.
      await network.restartCoordinator("SIGTERM");
      expect(await network.manage<SigningKey>("signing-key", "show")).toEqual(before);
      const refused = await runCommand("signing-key", "rotate", "--data", network.data);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(
          /^Once the coordinator uses a new key, .*\(known Islands: 1\)\. .* coordinator signing-key rotate --data \S+ --yes\n$/,
        ),
      ]);
      const after = await network.manage<SigningKey>("signing-key", "rotate", "--yes");
      expect(after.fingerprint).not.toBe(before.fingerprint);
      const shown = await network.run("signing-key", "show");
      expect(shown.stdout).toContain(after.fingerprint);
      expect(shown.stderr).toBe(
        `The coordinator uses this key after its next start. Until then it uses ${before.fingerprint}.\n`,
      );
      await network.restartCoordinator("SIGTERM");
      const { code, stderr } = await island.ended();
      expect(code).toBe(3);
      expect(stderr).toContain(`The Island stopped: the coordinator's key has changed: expected ${before.fingerprint}`);
      expect(stderr).toContain(after.fingerprint);

      expect((await joinIsland()).stderr).toContain("Not joined: the coordinator's key has changed");
      const withStored = ["--data", network.islandData("a"), "--fingerprint", after.fingerprint];
      const rejoined = await runProgram("island", "join", network.url, ...withStored);
      expect(rejoined).toMatchObject({ code: 0, stderr: "" });
      expect(rejoined.stdout).toContain(`Next: island start --data`);
      const elsewhere = await runProgram("island", "join", "http://localhost:9", ...withStored);
      expect(elsewhere.stderr).toMatch(/^No pairing code or Island token was given\. Give --code/);
      await using again = startIsland();
      await again.printed(/connected to/);
      expect((await runProgram("island", "join", network.url, ...withStored)).stdout).toContain(
        "The running agent keeps the old settings. Stop it with island drain, then run: island start --data",
      );
    },
  );

  it("is verified even if the token comes from standard input or the environment", async () => {
    const join_ = (name: string, ...more: string[]) => [
      "join",
      network.url,
      "--data",
      network.islandData(name),
      ...more,
    ];
    const none = await runProgram("island", ...join_("b"));
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^No pairing code or Island token was given\. Give --code.*\n$/) as string,
    });
    await using piped = new Program("island", join_("b", "--token", "-"), {}, `${token}\n`);
    expect(await piped.ended()).toMatchObject({ code: 0, stderr: "" });
    await using given = new Program("island", join_("c"), { ISLAND_COORDINATOR_TOKEN: token });
    expect(await given.ended()).toMatchObject({ code: 0, stderr: "" });
    for (const name of ["b", "c"]) {
      expect(await readFile(join(network.islandData(name), "config.toml"), "utf8")).toContain(token);
    }
  });

  it.skipIf(IS_POSTGRES)("stops the coordinator from starting if it is damaged", async () => {
    network.coordinator.kill("SIGTERM");
    await network.coordinator.ended();
    const path = join(network.data, "signing.key");
    const kept = await readFile(path, "utf8");
    for (const content of ["", generateKeyPairSync("x25519").privateKey.export({ type: "pkcs8", format: "pem" })]) {
      await writeFile(path, content);
      const refused = await runProgram("coordinator", "serve", "--port", "0", "--data", network.data);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(
        /^\S+signing\.key: (the signing key is damaged|must be an Ed25519 key).*signing-key rotate/,
      );
      expect(refused.stderr).not.toContain("    at ");
    }
    await writeFile(path, kept);
    await using _served = await serve();
  });

  it("cannot be shown before it exists", async () => {
    const empty = await runCommand("signing-key", "show", "--data", join(network.directory, "none"));
    expect(empty.code).toBe(1);
    expect(empty.stderr).toMatch(/^No coordinator data in /);
  });
});

async function serve(): Promise<Program> {
  const flags = ["--data", network.data, "--log-level", "warn", "--catalog-directory", smallCatalog()];
  const program = new Program("coordinator", ["serve", "--port", "0", ...flags]);
  await program.printed(/listening on/);
  return program;
}
