import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { AnswerMemory } from "../../../../coordinator/http/limits/answer-memory.ts";

const response = (): ServerResponse => new EventEmitter() as ServerResponse;

describe("the memory of large answers", () => {
  it("takes one answer whatever its size, and others while they fit", () => {
    const memory = new AnswerMemory(10);
    const first = response();
    memory.hold(11, first);
    expect(() => memory.hold(1, response())).toThrow("Too many large answers");
    first.emit("close");
    memory.hold(5, response());
    memory.hold(5, response());
    expect(() => memory.hold(1, response())).toThrow("Too many large answers");
  });

  it("keeps nothing of a client that has left", () => {
    const memory = new AnswerMemory(10);
    memory.hold(10, Object.assign(response(), { destroyed: true }));
    memory.hold(10, response());
  });
});
