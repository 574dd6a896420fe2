import { describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { RemoteOutlooks } from "../../../coordinator/cluster/remote-outlooks.ts";
import type { Outlook, WorkKind } from "../../../coordinator/scheduler/shared-work.ts";

const KIND: WorkKind = { slug: "llama", onlyIslandsOf: "user_1", features: ["chat.tools"] };
const LACKING: Outlook = { is: "lacking", message: "no online Island offers llmcpp" };

/** Asks from coordinator "one" in a network of these others; "old" is of a version that does not know the question. */
async function askOthers(answerOf: Readonly<Record<string, (kind: WorkKind) => unknown>>): Promise<unknown[]> {
  const bus = new LocalBus();
  const living = ["one", "old", ...Object.keys(answerOf)].map((id) => ({ id, address: "", version: "" }));
  const open = (id: string, here: (kind: WorkKind) => unknown): RemoteOutlooks => {
    const self = { id, address: "", version: "" };
    return new RemoteOutlooks({ bus, members: { self, living }, here: here as (kind: WorkKind) => Outlook });
  };
  for (const [id, here] of Object.entries(answerOf)) open(id, here);
  return open("one", () => ({ is: "possible" })).ask(KIND);
}

describe("RemoteOutlooks", () => {
  it("asks all other coordinators about the whole kind of work, and has null for those that do not answer", async () => {
    const asked: WorkKind[] = [];
    const two = (kind: WorkKind): Outlook => {
      asked.push(kind);
      return LACKING;
    };
    expect(await askOthers({ two, three: () => ({ is: "absent" }) })).toEqual([null, LACKING, { is: "absent" }]);
    expect(asked).toEqual([KIND]);
  });

  it.each([[null], [{ is: "lacking" }], [{ is: "never" }], [{ is: "lacking", message: "x".repeat(2_001) }]])(
    "has null for a coordinator that answers %j",
    async (answer) => {
      expect(await askOthers({ two: () => answer })).toEqual([null, null]);
    },
  );
});
