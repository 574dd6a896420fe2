import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeFrame, readFromCoordinator, readFromIsland } from "../../../shared/protocol/codec.ts";
import type { FromCoordinator } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const DOCUMENT = new URL("../../../docs/reference/island-protocol-transcripts.md", import.meta.url);
const CUT = "  (the connection is cut";

/** Returns the lines of a section's code block. */
function linesOf(heading: string): string[] {
  const [, section = ""] = readFileSync(DOCUMENT, "utf8").split(`\n## ${heading}\n`);
  const [, block = ""] = section.split("\n```\n");
  return block.split("\n");
}

const TRANSCRIPT = linesOf("A chat whose connection breaks");
const OTHER_FRAMES = linesOf("More frames");
const isFrame = (line: string): boolean => /^[→←] /.test(line);

describe("a documented frame", () => {
  const frames = [...TRANSCRIPT, ...OTHER_FRAMES].filter(isFrame).map((line) => {
    const frame = JSON.parse(line.slice(2)) as FromIsland | FromCoordinator;
    return { from: line.startsWith("→") ? "the Island" : "the coordinator", type: frame.type, frame };
  });

  it.each(frames)("is valid as documented: $type of $from", ({ from, frame }) => {
    const read = from === "the Island" ? readFromIsland : readFromCoordinator;
    expect(read(encodeFrame(frame))).toEqual(frame);
  });
});

describe("the documented transcript", () => {
  let coordinator: TestCoordinator;
  beforeAll(async () => {
    coordinator = await TestCoordinator.open();
  });
  afterAll(() => coordinator[Symbol.asyncDispose]());

  it("gets the documented replies, and its jobs end with the Island's output", async () => {
    const { url } = coordinator;
    const { key, islandToken } = await coordinator.createAccount("ada@example.com");
    /** Maps the ids and secrets of the document to the ids and secrets of this run. */
    const present = new Map<string, string>();
    const jobIds: string[] = [];
    /**
     * Maps the frame numbers of the document to the frame numbers of this run, for each job. The document also counts
     * frames that it omits.
     */
    const seqs = new Map<string, Map<number, number>>();
    const texts = new Map<string, string>();

    /** Returns the frame as the Island sends it in this run. */
    function presentOf(line: string): FromIsland {
      const frame = JSON.parse(line.slice(2), (_, value: unknown) =>
        typeof value === "string" ? (present.get(value) ?? value) : value,
      ) as FromIsland;
      if (!("seq" in frame)) return frame;
      const numbers = seqs.get(frame.jobId) ?? new Map<number, number>();
      seqs.set(frame.jobId, numbers);
      const isNew = !numbers.has(frame.seq);
      const seq = numbers.get(frame.seq) ?? numbers.size + 1;
      numbers.set(frame.seq, seq);
      if (frame.type === "output" && isNew)
        for (const item of frame.items)
          if (item.type === "token") texts.set(frame.jobId, (texts.get(frame.jobId) ?? "") + item.content);
      return { ...frame, seq };
    }

    let island = await FakeIsland.dial(url, islandToken);
    for (const line of TRANSCRIPT) {
      if (line.startsWith(CUT)) {
        island.cut();
        await island.closed;
        island = await FakeIsland.dial(url, islandToken);
      } else if (line.startsWith("→")) {
        island.send(presentOf(line));
      } else if (line.startsWith("←")) {
        const documented = JSON.parse(line.slice(2)) as FromCoordinator;
        if (documented.type === "ack") continue;
        if (documented.type === "assign") {
          const body = { workload: documented.cargo.slug, input: documented.input };
          jobIds.push((await call(url, key, "POST", "/jobs", body)).body.data.id as string);
        }
        const frame = await island.next(documented.type);
        expect(Object.keys(frame)).toEqual(expect.arrayContaining(Object.keys(documented)));
        if (documented.type !== "assign" || frame.type !== "assign") continue;
        expect(Object.keys(frame.cargo)).toEqual(expect.arrayContaining(Object.keys(documented.cargo)));
        present.set(documented.jobId, frame.jobId).set(documented.claim, frame.claim);
      }
    }
    await island[Symbol.asyncDispose]();
    expect(jobIds).toHaveLength(2);
    for (const id of jobIds) {
      const read = async () => (await call(url, key, "GET", `/jobs/${id}?wait=20`)).body.data;
      const job = await until(read, ({ status }) => status === "completed", "the end of the job");
      expect(job).toMatchObject({ attempts: 1, output: texts.get(id) });
    }
  });
});
