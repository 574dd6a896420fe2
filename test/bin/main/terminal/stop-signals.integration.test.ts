import { afterEach, expect, it } from "vitest";
import { onStopSignal } from "../../../../bin/main/terminal/stop-signals.ts";

const NAMES = ["SIGTERM", "SIGINT"] as const;
const earlier = NAMES.map((name) => process.listeners(name));
afterEach(() => {
  for (const [index, name] of NAMES.entries()) {
    process.removeAllListeners(name);
    for (const listener of earlier[index] ?? []) process.on(name, listener);
  }
});

it("onStopSignal() passes a pending signal to the new listener", async () => {
  const got: string[] = [];
  const received = new Promise<void>((resolve) => {
    onStopSignal(() => got.push("first"));
    process.kill(process.pid, "SIGTERM");
    onStopSignal((signal) => {
      got.push(signal);
      resolve();
    });
  });
  await received;
  expect(got).toEqual(["SIGTERM"]);
});
