import { randomUUID } from "node:crypto";
import { beginFrames, failedFrame, finishedFrame, outputFrame } from "../support/network/attempt-frames.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import type { Stage } from "./stage.ts";

const HEARTBEATS = 3_000;
const SESSIONS = 80;
const FRAMES = 300;
const TOKENS_PER_FRAME = 1_000;
/** Number of frames below the limit of frames about jobs of others, which ends a session. */
const REPORTS = 200;
const FORGED = "LIAR-TEXT forged";

/** The flood is sent during an attempt, which is silent afterwards. */
export const FLOODS: readonly { readonly name: string; send(stage: Stage): Promise<void> | void }[] = [
  {
    name: "heartbeats",
    send({ attempt, island }) {
      attempt.begin();
      for (let at = 0; at < HEARTBEATS; at += 1) island.heartbeat();
    },
  },
  {
    name: "output far over its budget",
    send({ attempt }) {
      attempt.begin();
      const items = Array.from({ length: TOKENS_PER_FRAME }, () => ({ type: "token" as const, content: "", count: 9 }));
      for (let at = 0; at < FRAMES; at += 1) attempt.items(...items);
    },
  },
  {
    name: "many sessions on one token",
    async send({ attempt, island, url }) {
      attempt.begin();
      const { islandToken } = island.options.account;
      const joins = Array.from({ length: SESSIONS }, async () => {
        const link = await FakeIsland.join(url, islandToken, { hostId: randomUUID(), draining: true });
        link.socket.on("error", () => undefined);
        return link;
      });
      const joined = await Promise.allSettled(joins);
      await attempt.pause(1_000);
      for (const join of joined) if (join.status === "fulfilled") join.value.cut();
    },
  },
  {
    name: "cancels ignored",
    async send({ attempt, island }) {
      attempt.begin();
      attempt.readPrompt(1, 2);
      await attempt.pause(10_000);
      // Continues until the session ends.
      for (let at = 0; at < 20 && island.attempts.get(attempt.jobId) === attempt; at += 1) {
        attempt.text(FORGED);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    },
  },
  {
    name: "reports on the jobs of others",
    send({ attempt, island, others }) {
      attempt.begin();
      const targets = others();
      for (let at = 0; at < REPORTS && targets.length > 0; at += 1) {
        const name = targets[at % targets.length];
        if (name === undefined) continue;
        const { jobId } = name;
        // The current attempt, the previous one and the next one.
        const target = { jobId, attempt: Math.max(1, name.attempt + (at % 3) - 1) };
        island.send(...beginFrames(target), outputFrame(target, 1 + (at % 5), FORGED));
        if (at % 4 === 0) island.send(finishedFrame(target, 2, { output: FORGED }));
        if (at % 4 === 1) island.send(failedFrame(target, 2, "invalid_input"));
      }
    },
  },
  {
    name: "old frames again",
    send({ attempt, island }) {
      attempt.begin();
      for (let round = 0; round < 5; round += 1) island.send(...island.oldFrames);
    },
  },
];
