import { expect, it } from "vitest";
import { BusUptime } from "../../../coordinator/cluster/bus-uptime.ts";
import { ManualClock } from "../../support/manual-clock.ts";

it("A bus has been up since a moment when it was neither down then nor went down after it", () => {
  const clock = new ManualClock();
  const listeners = new Set<(because: string | null) => void>();
  const bus = {
    downBecause: null as string | null,
    onChange: (listener: (because: string | null) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const change = (because: string | null): void => {
    bus.downBecause = because;
    for (const listener of listeners) listener(because);
  };
  const uptime = new BusUptime(bus, clock);
  const beganMs = clock.monotonicMs();
  clock.advance(1_000);
  expect(uptime.hasBeenUpSince(beganMs)).toBe(true);
  change("gone");
  expect(uptime.hasBeenUpSince(beganMs)).toBe(false);
  clock.advance(1_000);
  change(null);
  expect(uptime.hasBeenUpSince(beganMs)).toBe(false);
  expect(uptime.hasBeenUpSince(clock.monotonicMs())).toBe(true);
  uptime.close();
  expect(listeners.size).toBe(0);
});
