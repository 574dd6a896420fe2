import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { PostgresServer } from "../support/servers/postgres-server.ts";
import { command, createAccount, serving, readSigningKey, readStatuses, type Installation } from "./operator-steps.ts";

// The steps of "The cluster key" and "Change keys" in docs/operate/security.md.
describe("coordinator cluster-key rotate", () => {
  it("keeps accounts and the signing key, and makes the old key invalid", async () => {
    using folder = temporaryFolder();
    await using server = await PostgresServer.start();
    const address = await server.createDatabase("atoll");
    const installation = (key: string): Installation => ({
      flags: [],
      env: { ATOLL_STORE: address, ATOLL_CLUSTER_KEY: key },
    });
    const [first, second] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
    const file = folder.file("new.key");
    writeFileSync(file, `${second}\n`);
    const rotate = (where: Installation) => command(where, "cluster-key", "rotate", "--new-key-file", file);

    const key = await createAccount(installation(first), "ann@example.com");
    const signing = await serving(installation(first), async () => {
      await expect(rotate(installation(first))).rejects.toThrow(/use the database\. Stop them first/);
      return readSigningKey(installation(first));
    });
    expect(await rotate(installation(first))).toMatch(/^Encrypted 3 secrets and those of 0 webhooks with the key in/);
    await expect(command(installation(first), "serve", "--port", "0")).rejects.toThrow(
      /encrypted with another cluster_key/,
    );
    await expect(rotate(installation(second))).rejects.toThrow(/must contain a new key, got the current cluster_key/);

    // The operator can rotate the secret of attempt tokens as well.
    await server.query("DELETE FROM secrets WHERE name = 'proofs'", "atoll");
    await serving(installation(second), async (url) => {
      expect(await readStatuses(url, key)).toEqual([200]);
      expect(await readSigningKey(installation(second))).toBe(signing);
    });
    expect(await command(installation(second), "audit", "--json")).toContain('"cluster_key.rotate"');
  });

  it("requires a database", async () => {
    using folder = temporaryFolder();
    const words = ["cluster-key", "rotate", "--new-key-file", folder.file("new.key")];
    await expect(command({ flags: [] }, ...words)).rejects.toThrow(
      "cluster-key requires a PostgreSQL database, but store is not set. Give --store",
    );
  });
});
