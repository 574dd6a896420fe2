import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { LocalBus } from "../../../../coordinator/bus/local-bus.ts";
import { networkQuota } from "../../../../coordinator/cluster/network-quota.ts";
import { requestLimits } from "../../../../coordinator/http/limits/request-limits.ts";
import { peersOn } from "../../cluster/peers-on.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { TEST_HTTP_OPTIONS } from "../../../support/http/http-options.ts";

const limits = () => {
  const clock = new ManualClock();
  const quota = networkQuota(peersOn(new LocalBus(), "c1"), clock);
  return requestLimits({ ...TEST_HTTP_OPTIONS, answerMemoryBytes: 10 }, clock, { http: { openStreams: 0 } }, quota);
};
const response = (): ServerResponse => new EventEmitter() as ServerResponse;

describe("requestLimits().holdStream()", () => {
  it("accepts one response of any size, and others while they fit", () => {
    const memory = limits();
    const first = response();
    memory.holdStream(first, 11);
    expect(() => memory.holdStream(response(), 1)).toThrow("Too many large responses");
    first.emit("close");
    memory.holdStream(response(), 5);
    memory.holdStream(response(), 5);
    expect(() => memory.holdStream(response(), 1)).toThrow("Too many large responses");
  });

  it("counts nothing for a client that has disconnected", () => {
    const memory = limits();
    memory.holdStream(Object.assign(response(), { destroyed: true }), 10);
    memory.holdStream(response(), 10);
  });
});
