import { expect, it, vi } from "vitest";
import { type FromHost, readFromHost } from "../../../../island-agent/runtimes/host/host-protocol.ts";
import { RunOutbox } from "../../../../island-agent/runtimes/host/run-outbox.ts";
import { outputItemSchema } from "../../../../shared/output.ts";

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const token = (content: string) => ({ type: "token" as const, content, count: 1 });

function open(): { outbox: RunOutbox; sent: FromHost[] } {
  const sent: FromHost[] = [];
  return { sent, outbox: new RunOutbox((message) => sent.push(message) > 0) };
}

it("RunOutbox sends the tokens of all runs of one batch as one message, and each batch immediately", async () => {
  const { outbox, sent } = open();
  for (let batch = 0; batch < 3; batch += 1) {
    for (let run = 1; run <= 16; run += 1) outbox.add(run, token(`${run}`));
    await tick();
    expect(sent).toHaveLength(batch + 1);
  }
  const [first] = sent;
  expect(first?.kind === "output" ? first.outputs.map(({ run, items }) => [run, items.length]) : []).toEqual(
    Array.from({ length: 16 }, (_, index) => [index + 1, 1]),
  );
});

it("RunOutbox sends the end of a run after its output, in the same tick", () => {
  const { outbox, sent } = open();
  outbox.add(1, token("a"));
  outbox.end({ kind: "aborted", run: 1 });
  expect(sent.map(({ kind }) => kind)).toEqual(["output", "aborted"]);
});

it("readFromHost() reads tokens without the schema and all other messages with it", () => {
  const parse = vi.spyOn(outputItemSchema, "safeParse");
  const outputs = [{ run: 1, items: [token("a"), { ...token("b"), count: 3 }] }];
  expect(readFromHost({ kind: "output", outputs })).toEqual({ kind: "output", outputs });
  expect(parse).toHaveBeenCalledTimes(0);
  expect(
    readFromHost({ kind: "output", outputs: [{ run: 1, items: [{ type: "progress", step: 1, total: 2 }] }] }),
  ).not.toBeNull();
  expect(readFromHost({ kind: "output", outputs: [{ run: 1, items: [{ ...token("a"), count: -1 }] }] })).toBeNull();
  expect(parse).toHaveBeenCalledTimes(2);
  parse.mockRestore();
});
