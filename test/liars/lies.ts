import type { Random } from "../support/random.ts";
import type { Attempt } from "./attempt.ts";
import { FLOODS } from "./floods.ts";
import type { Stage } from "./stage.ts";
import type { Result } from "./tasks.ts";

export type LieKind = "usage" | "speed" | "text" | "silence" | "refusal" | "flood";

export interface Lie {
  readonly kind: LieKind;
  readonly name: string;
  readonly fits: readonly Result["kind"][];
  send(stage: Stage): Promise<void> | void;
}

/** Part of all messages of lying Islands. No client may receive it. */
export const LIAR_WORDS = "LIAR-WORDS";
/** Part of wrong streamed text that the Island contradicts afterwards. No completed job may contain it. */
export const LIAR_TEXT = "LIAR-TEXT";
const SPEECH = `${LIAR_WORDS} send 5 credits to me `.repeat(100).slice(0, 2_000);
const BILLION = 1_000_000_000;
const LONG_MS = 600_000;

const CHATS = ["text", "json"] as const;
const ALL = ["text", "json", "value"] as const;

function lie(kind: LieKind, name: string, fits: readonly Result["kind"][], send: Lie["send"]): Lie {
  return { kind, name, fits, send };
}

/** Stays silent until the coordinator ends the attempt. */
async function keepStill(attempt: Attempt): Promise<void> {
  await attempt.pause(LONG_MS);
  if (attempt.isCancelled) attempt.confirmCancel();
}

async function streamRight({ attempt, random }: Stage, part = 1): Promise<void> {
  attempt.begin();
  const { pieces } = attempt;
  for (const piece of pieces.slice(0, Math.ceil(pieces.length * part))) {
    await attempt.pause(random.between(5, 20));
    attempt.text(piece);
  }
}

export const LIES: readonly Lie[] = [
  lie("usage", "a million tokens", CHATS, async (stage) => {
    await streamRight(stage);
    stage.attempt.finish({ promptTokens: BILLION, completionTokens: BILLION });
  }),
  lie("usage", "a million tokens for a value", ["value"], ({ attempt }) => {
    attempt.begin();
    attempt.finish({ output: {}, promptTokens: BILLION, completionTokens: BILLION });
  }),
  lie("usage", "an empty token that counts 1,000", CHATS, ({ attempt }) => {
    attempt.begin();
    attempt.text("", 1_000);
    attempt.finish({ completionTokens: 1_000 });
  }),
  lie("usage", "a piece of text that counts 1,000", CHATS, ({ attempt }) => {
    attempt.begin();
    attempt.text(attempt.pieces[0] ?? "", 1_000);
    return keepStill(attempt);
  }),
  lie("usage", "a prompt of a billion tokens, read at once", ALL, ({ attempt }) => {
    attempt.begin();
    attempt.readPrompt(BILLION, BILLION);
    return keepStill(attempt);
  }),
  lie("speed", "done at once with nothing", ALL, ({ attempt }) => {
    attempt.begin();
    attempt.finish({ completionTokens: 5_000 });
  }),
  lie("speed", "nothing, without a start", ALL, ({ attempt }) => attempt.finish({ completionTokens: 5_000 })),
  lie("speed", "all output held back and sent in one frame", CHATS, ({ attempt }) => {
    attempt.begin();
    attempt.items(...attempt.pieces.map((content) => ({ type: "token" as const, content, count: 1 })));
    attempt.finish({ completionTokens: BILLION });
  }),
  lie("text", "another output than the stream", CHATS, async (stage) => {
    await streamRight(stage, 0.5);
    stage.attempt.finish({ output: `${LIAR_WORDS} ${LIAR_TEXT}` });
  }),
  lie("text", "a wrong stream and another output", CHATS, ({ attempt }) => {
    attempt.begin();
    // Both frames are sent in one write, because a session that ended in between would leave wrong text without its
    // contradiction.
    for (let at = 0; at < 5; at += 1) attempt.text(`${LIAR_TEXT} `);
    attempt.finish({ output: LIAR_WORDS });
  }),
  lie("text", "a stream without text", CHATS, ({ attempt }) => {
    attempt.begin();
    for (let at = 0; at < 20; at += 1) attempt.text("", 3);
    attempt.finish({ completionTokens: 60 });
  }),
  lie("text", "more than max_tokens", CHATS, async (stage) => {
    await streamRight(stage);
    for (let at = 0; at < 100; at += 1) stage.attempt.text(`${LIAR_TEXT} `);
    stage.attempt.finish({ completionTokens: 100 });
  }),
  lie("text", "a token of 900 KB", CHATS, ({ attempt }) => {
    attempt.begin();
    attempt.text(LIAR_TEXT.repeat(100_000));
    attempt.finish({ completionTokens: 1 });
  }),
  lie("text", "a picture instead of text", CHATS, ({ attempt }) => {
    attempt.begin();
    attempt.items({ type: "image", data: Buffer.from(LIAR_TEXT).toString("base64"), format: "png" });
    attempt.finish({ completionTokens: 10 });
  }),
  lie("text", "text instead of a value", ["value"], ({ attempt }) => {
    attempt.begin();
    attempt.text(LIAR_TEXT);
    attempt.finish({ completionTokens: 10 });
  }),
  lie("text", "a value of another shape", ["value"], ({ attempt, random }) => {
    attempt.begin();
    const values = [42, LIAR_TEXT, [LIAR_TEXT], { data: 5 }, { data: "", more: LIAR_TEXT }, true, {}];
    attempt.finish({ output: random.pick(values) });
  }),
  lie("text", "broken JSON", ["json"], ({ attempt }) => {
    attempt.begin();
    attempt.text(`{"seal": "${LIAR_TEXT}`);
    attempt.finish({ completionTokens: 5 });
  }),
  lie("text", "JSON that breaks the schema", ["json"], ({ attempt }) => {
    attempt.begin();
    attempt.text(JSON.stringify({ seal: 5, other: LIAR_TEXT }));
    attempt.finish({ completionTokens: 5 });
  }),
  lie("text", "frames of garbage", ALL, async ({ attempt, island, random }) => {
    attempt.begin();
    const noise = Buffer.from(Array.from({ length: 300 }, () => random.between(0, 255)));
    island.sendRaw(random.chance(0.5) ? noise : `${LIAR_WORDS} as text`);
    await keepStill(attempt);
  }),
  lie("silence", "never accepted", ALL, ({ attempt }) => keepStill(attempt)),
  lie("silence", "accepted and never started", ALL, ({ attempt }) => {
    attempt.accept();
    return keepStill(attempt);
  }),
  lie("silence", "started and silent", ALL, ({ attempt }) => {
    attempt.begin();
    return keepStill(attempt);
  }),
  lie("silence", "silent half way", CHATS, async (stage) => {
    await streamRight(stage, 0.5);
    await keepStill(stage.attempt);
  }),
  lie("silence", "progress claimed forever", ALL, async ({ attempt, island }) => {
    island.claimedWork.set(attempt.jobId, 0);
    attempt.begin();
    for (let step = 0; !attempt.isOver; step += 1) {
      attempt.items({ type: "progress", step, total: 1_000_000 });
      await attempt.pause(200);
    }
    await keepStill(attempt);
  }),
  lie("refusal", "refused with a speech", ALL, ({ attempt, random }) => {
    attempt.refuse(random.pick(["internal", "manifest_untrusted", "out_of_memory", "shutting_down"]), SPEECH);
  }),
  lie("refusal", "failed for good at once, with a speech", ALL, ({ attempt, random }) => {
    attempt.begin();
    attempt.fail(random.pick(["invalid_input", "cargo_failed", "model_invalid", "internal"]), SPEECH, false);
  }),
  lie("refusal", "failed at once, with a speech", ALL, ({ attempt }) => {
    attempt.begin();
    attempt.fail("runtime_crashed", SPEECH, true);
  }),
  lie("refusal", "refused half way", CHATS, async (stage) => {
    await streamRight(stage, 0.5);
    stage.attempt.refuse("shutting_down", SPEECH);
  }),
  lie("refusal", "given up as if cancelled", ALL, ({ attempt }) => {
    attempt.begin();
    attempt.confirmCancel();
  }),
  ...FLOODS.map((flood) =>
    lie("flood", flood.name, ALL, async (stage) => {
      await flood.send(stage);
      await keepStill(stage.attempt);
    }),
  ),
];

/** Relative frequency of each kind. A flood disconnects its Island for long, which prevents other lies. */
const WEIGHTS: Readonly<Record<LieKind, number>> = { usage: 3, speed: 2, text: 5, silence: 3, refusal: 3, flood: 1 };
const WEIGHTED = Object.entries(WEIGHTS).flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind));

/** Returns a random lie that is possible for the job. */
export function pickLie(attempt: Attempt, random: Random): Lie {
  const fitting = LIES.filter(({ fits }) => fits.includes(attempt.result.kind));
  const kind = random.pick(WEIGHTED);
  return random.pick(fitting.filter((each) => each.kind === kind));
}
