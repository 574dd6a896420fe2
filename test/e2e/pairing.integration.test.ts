import { describe, expect, it } from "vitest";
import { configCommand } from "../../island-agent/cli/config-command.ts";
import { joinNetwork } from "../../island-agent/cli/join-command.ts";
import { dataDirectory, messageOf, useDataDirectory } from "../island-agent/cli/command-world.ts";
import { call } from "../support/http/http.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";

useDataDirectory();

describe("island join --code", () => {
  it("exchanges the code once for a token of the account, after the key was verified", async () => {
    await using coordinator = await TestCoordinator.open();
    const { key, id } = await coordinator.createAccount("host@example.com");
    const made = await call(coordinator.url, key, "POST", "/island-tokens/pairing", { name: "attic" });
    const { code } = made.body.data;
    const join = (fingerprint?: string) =>
      joinNetwork({ urls: [`${coordinator.url}/api/v1`], credential: { code }, dataDirectory, fingerprint });

    expect(await messageOf(join("SHA256:another"))).toMatch(
      /^Not joined: the fingerprint of the coordinator's key must be SHA256:another, got /,
    );
    await join();
    const { data: tokens } = (await call(coordinator.url, key, "GET", "/island-tokens")).body;
    // The other token was created with the account.
    expect(tokens.slice(0, -1)).toEqual([
      expect.objectContaining({ name: "attic", last_used_at: expect.any(String) as string }),
    ]);
    expect(await configCommand.get(dataDirectory, {}, "coordinator.account")).toBe(id);
    expect(await configCommand.get(dataDirectory, {}, "coordinator.api_url")).toBe(coordinator.url);
    expect(await messageOf(join())).toBe(
      "Not joined: the pairing code is wrong, used or older than ten minutes. Create a new one",
    );
  });
});
