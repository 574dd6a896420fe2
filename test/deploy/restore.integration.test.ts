import { cpSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../coordinator/store/contract/store-builders.ts";
import { command, createAccount, serving, signingKeyOf, statusesOf } from "./operator-steps.ts";

// The commands of docs/operate/backup-upgrade.md.
describe("a backup that is made while a coordinator serves, restored in another place", () => {
  it("of a data directory has what was there then: accounts, keys, balances and the signing key", async () => {
    using folder = temporaryFolder();
    const [data, copy, restored] = ["data", "copy", "restored"].map((name) => folder.file(name)) as [
      string,
      string,
      string,
    ];
    const [place, backup] = [{ flags: ["--data", data] }, { flags: ["--data", restored] }];
    const [before, after, key] = await serving(place, async () => {
      const first = await createAccount(place, "before@example.com");
      await command(place, "backup", copy);
      return [first, await createAccount(place, "after@example.com"), await signingKeyOf(place)] as const;
    });
    cpSync(copy, restored, { recursive: true });
    expect(await command(backup, "check")).toContain("intact");
    expect(await command(backup, "ledger", "verify")).toContain("balanced");
    await serving(backup, async (url) => {
      expect(await statusesOf(url, before, after)).toEqual([200, 401]);
      expect(await signingKeyOf(backup)).toBe(key);
    });
  });
});
