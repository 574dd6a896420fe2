import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LoadedCargo, RunRequest } from "../../../island-agent/runtimes/runtime.ts";
import type { OutputItem } from "../../../shared/output.ts";

export interface RuntimeSubject {
  readonly load: () => Promise<LoadedCargo>;
  /** Input of a run that ends after a few items of output. */
  readonly short: RunRequest;
  /** Input of a run that produces output for longer than a test waits. */
  readonly long: RunRequest;
  /** Input that no Cargo of this kind accepts, or null if the Cargo's program validates its input. */
  readonly invalid: RunRequest | null;
}

const NEVER = new AbortController().signal;

/** The contract of every loaded Cargo, with any runtime. The cases share one Cargo until one of them disposes it. */
export function describeRuntime(name: string, make: () => Promise<RuntimeSubject>): void {
  describe(`LoadedCargo contract: ${name}`, () => {
    let subject: RuntimeSubject;
    let cargo: LoadedCargo;
    beforeAll(async () => {
      subject = await make();
      cargo = await subject.load();
    });
    afterAll(() => cargo[Symbol.asyncDispose]());

    it("run() delivers its output before it settles and none after", async () => {
      const seen: (OutputItem | "settled")[] = [];
      await cargo.run(subject.short, (item) => seen.push(item), NEVER).finally(() => seen.push("settled"));
      // The end of another run shows that later output of the first run would have arrived.
      await cargo.run(subject.short, () => {}, NEVER);
      expect(seen.indexOf("settled")).toBe(seen.length - 1);
      expect(seen.length).toBeGreaterThan(1);
    });

    it("run() resolves with a finish reason and the usage", async () => {
      const result = await cargo.run(subject.short, () => {}, NEVER);
      expect(result.finishReason).toMatch(/^(stop|length)$/);
      expect(result.usage.completionTokens).toBeGreaterThanOrEqual(0);
    });

    it("run() rejects with the signal's reason when aborted, and delivers no output after", async () => {
      const controller = new AbortController();
      const reason = new Error("not wanted any more");
      let items = 0;
      const running = cargo.run(
        subject.long,
        () => {
          items++;
          controller.abort(reason);
        },
        controller.signal,
      );
      await expect(running).rejects.toBe(reason);
      expect(items).toBe(1);
    });

    it("run() rejects immediately when its signal is already aborted", async () => {
      const reason = new Error("too late");
      await expect(cargo.run(subject.short, () => {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    it("run() works after another run was aborted", async () => {
      const controller = new AbortController();
      const aborted = cargo.run(subject.long, () => controller.abort(), controller.signal);
      await expect(aborted).rejects.toBeDefined();
      await expect(cargo.run(subject.short, () => {}, NEVER)).resolves.toBeDefined();
    });

    it("run() refuses invalid input with invalid_input, not retryable", async ({ skip }) => {
      const { invalid } = subject;
      skip(invalid === null, "the Cargo's own program says what it takes");
      const running = cargo.run(invalid as RunRequest, () => {}, NEVER);
      await expect(running).rejects.toMatchObject({ name: "JobFailure", code: "invalid_input", retryable: false });
    });

    it("dispose() fails active and later runs as retryable", async () => {
      let disposed: PromiseLike<void> | undefined;
      const running = cargo.run(subject.long, () => void (disposed ??= cargo[Symbol.asyncDispose]()), NEVER);
      await expect(running).rejects.toMatchObject({ name: "JobFailure", retryable: true });
      await disposed;
      const late = cargo.run(subject.short, () => {}, NEVER);
      await expect(late).rejects.toMatchObject({ name: "JobFailure", retryable: true });
    });

    it("dispose() may be called twice and resolves `gone`", async () => {
      const other = await subject.load();
      await Promise.all([other[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
      await other[Symbol.asyncDispose]();
      await other.gone;
    });
  });
}
