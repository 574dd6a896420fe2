import { readFileSync } from "node:fs";

const EVERY_MS = 250;

export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Samples the coordinator's memory and its response times for an uninvolved client. */
export class Probe {
  readonly #memoryMb: number[] = [];
  readonly #responsesMs: number[] = [];
  readonly #life: Promise<void>;
  #isOver = false;

  constructor(pid: number, url: string, key: string) {
    this.#life = this.#watch(pid, url, key);
  }

  /** Stops, and returns the samples. Memory is 0 on other systems than Linux. */
  async stop(): Promise<{ readonly memoryMb: Spread; readonly responsesMs: Spread }> {
    this.#isOver = true;
    await this.#life;
    return { memoryMb: spreadOf(this.#memoryMb), responsesMs: spreadOf(this.#responsesMs) };
  }

  async #watch(pid: number, url: string, key: string): Promise<void> {
    while (!this.#isOver) {
      const beganMs = performance.now();
      const response = await fetch(`${url}/api/v1/account`, { headers: { authorization: `Bearer ${key}` } });
      await response.text();
      this.#responsesMs.push(performance.now() - beganMs);
      this.#memoryMb.push(residentMb(pid));
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }
}

function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
  } catch {
    return 0;
  }
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number): number => Math.round((sorted[Math.floor(part * (sorted.length - 1))] ?? 0) * 10) / 10;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
