import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { PostgresServer } from "../support/servers/postgres-server.ts";
import { command, createAccount, serving, signingKeyOf, statusesOf, type Place } from "./operator-steps.ts";

// The steps of docs/operate/security.md, "The cluster key" and "Change keys".
describe("coordinator cluster-key rotate", () => {
  it("keeps accounts and the signing key; the old key serves no more", async () => {
    using folder = temporaryFolder();
    await using server = await PostgresServer.start();
    const address = await server.createDatabase("atoll");
    const place = (key: string): Place => ({ flags: [], env: { ATOLL_STORE: address, ATOLL_CLUSTER_KEY: key } });
    const [first, second] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
    const file = folder.file("new.key");
    writeFileSync(file, `${second}\n`);
    const rotate = (where: Place) => command(where, "cluster-key", "rotate", "--new-key-file", file);

    const key = await createAccount(place(first), "ann@example.com");
    const signing = await serving(place(first), async () => {
      await expect(rotate(place(first))).rejects.toThrow(/use the database\. Stop them first/);
      return signingKeyOf(place(first));
    });
    expect(await rotate(place(first))).toMatch(/^Encrypted 3 secrets and those of 0 webhooks with the key in/);
    await expect(command(place(first), "serve", "--port", "0")).rejects.toThrow(/encrypted with another cluster_key/);
    await expect(rotate(place(second))).rejects.toThrow(/must contain a new key, got the current cluster_key/);

    // The secret of attempts, too, can be replaced.
    await server.query("DELETE FROM secrets WHERE name = 'proofs'", "atoll");
    await serving(place(second), async (url) => {
      expect(await statusesOf(url, key)).toEqual([200]);
      expect(await signingKeyOf(place(second))).toBe(signing);
    });
    expect(await command(place(second), "audit", "--json")).toContain('"cluster_key.rotate"');
  });

  it("is for databases alone", async () => {
    using folder = temporaryFolder();
    const words = ["cluster-key", "rotate", "--new-key-file", folder.file("new.key")];
    await expect(command({ flags: [] }, ...words)).rejects.toThrow(
      "A cluster key requires a PostgreSQL database. Give --store",
    );
  });
});
