import { describe, it } from "vitest";
import { Listener } from "../../events/listener.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";
import { call } from "../../../support/http/http.ts";

describe("a key that another process revokes", () => {
  it("ends its open event stream before any heartbeat", async () => {
    await using coordinator = await TestCoordinator.open({ sseHeartbeatS: 3_600 });
    const { id: accountId, key } = await coordinator.createAccount("revoked@example.com");
    const listener = await Listener.open(coordinator.url, { key });
    await listener.next("reset");
    const { body } = await call(coordinator.url, key, "GET", "/api-keys");
    await coordinator.withStore((store) => store.accounts.revokeKey(accountId, body.data[0].id, Date.now()));
    await listener.over;
  });
});
