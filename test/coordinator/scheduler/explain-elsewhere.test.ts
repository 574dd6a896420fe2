import { describe, expect, it } from "vitest";
import { type Elsewhere, explainElsewhere, type Waiting } from "../../../coordinator/scheduler/explain.ts";

const OFFLINE: Waiting = { reason: "no_island_online", position: 1, message: "no Island is online" };
const NOBODY: Elsewhere = { peers: 0, running: 0, slots: 0, free: 0 };

describe("explainElsewhere()", () => {
  it("adds nothing if no other coordinator has reported", () => {
    expect(explainElsewhere(OFFLINE, NOBODY)).toEqual(OFFLINE);
  });

  it("reports that no other coordinator is known to run the job", () => {
    const { reason, message } = explainElsewhere(OFFLINE, { ...NOBODY, peers: 2 });
    expect(reason).toBe("no_island_online");
    expect(message).toBe(
      "at the job's coordinator: no Island is online. No other coordinator is known to have an Island for it",
    );
  });

  it("reports Islands as busy if other coordinators have some that run the job", () => {
    const explained = explainElsewhere(OFFLINE, { peers: 3, running: 2, slots: 6, free: 0 });
    expect(explained).toMatchObject({ reason: "all_busy", position: 1 });
    expect(explained.message).toContain(". Elsewhere in the network, 6 slots can run the job; all are busy");
  });

  it("reports that another coordinator may take the job while it has free slots", () => {
    const { message } = explainElsewhere(OFFLINE, { peers: 1, running: 1, slots: 1, free: 1 });
    expect(message).toContain(
      ". Elsewhere in the network, 1 slot can run the job; a coordinator with free slots may take it",
    );
  });

  it("keeps a reason that does not depend on the coordinator", () => {
    const waiting: Waiting = { ...OFFLINE, reason: "model_downloading" };
    expect(explainElsewhere(waiting, { peers: 1, running: 1, slots: 1, free: 0 }).reason).toBe("model_downloading");
  });
});
