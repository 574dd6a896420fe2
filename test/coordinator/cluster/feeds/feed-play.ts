import { expect } from "vitest";
import type { JobFeed } from "../../../../coordinator/jobs/feed.ts";
import { FeedWorld, status, textOf, token, type FeedSide } from "./feed-world.ts";
import { NO_FAULTS } from "../faulty-bus.ts";
import { TestReader } from "./test-reader.ts";

/** A job that moves and is retried like a job with Islands. Its output never repeats. */
class MovingJob {
  owner: FeedSide;
  readonly #world: FeedWorld;
  #feed: JobFeed;
  #attempt = 1;
  #said = 0;
  /** Output of the current attempt that its Island has and storage does not. */
  #held: string[] = [];

  constructor(world: FeedWorld, owner: FeedSide) {
    this.#world = world;
    this.owner = owner;
    this.#feed = world.job(owner);
  }

  say(count: number): void {
    for (let n = 0; n < count; n += 1) {
      this.#said += 1;
      const text = `${this.#attempt}:${this.#said} `;
      this.#held.push(text);
      this.#feed.push([token(text)], this.#attempt);
    }
  }

  announce(): void {
    this.#feed.push([status("running")], this.#attempt);
  }

  async store(): Promise<void> {
    await this.#feed.load();
    this.#world.store("job_1", this.#feed);
    this.#held = [];
  }

  /**
   * Moves the job to another coordinator. Its Island returns there with the output that was not stored, or the job gets
   * another Island.
   */
  move(to: FeedSide, isRegained: boolean): void {
    this.owner = to;
    this.#feed = to.take("job_1");
    if (isRegained) this.#feed.push(this.#held.map(token), this.#attempt);
    else {
      this.#attempt += 1;
      this.#held = [];
      this.announce();
    }
  }
}

/** Plays random events from the seed until the job has ended. Every reader must then have the whole output. */
export async function playFeeds(seed: number): Promise<void> {
  const world = new FeedWorld(seed);
  const { random } = world;
  const sides = [world.side(), world.side(), world.side(), world.side()];
  const faults = { lose: random.pick([0, 0.1, 0.4]), repeat: random.pick([0, 0.2]), delay: random.pick([0, 0.5]) };
  for (const { bus } of sides) bus.faults = faults;
  const live = (): FeedSide[] => sides.filter(({ isDead }) => !isDead);
  const job = new MovingJob(world, random.pick(sides));
  const readers = [new TestReader(), new TestReader(), new TestReader()];
  let isOver = false;
  /** Disconnects some clients, and reconnects others, mostly to another coordinator. */
  const reconnect = (chance: number): void => {
    for (const reader of readers) {
      if (reader.isDone) continue;
      const isLost = reader.side === null || reader.side.isDead;
      if (isLost ? random.chance(chance) : random.chance(0.05) && !isOver) void reader.connect(random.pick(live()));
    }
  };
  for (let step = 0; step < 40; step += 1) {
    const from = job.owner;
    const auditEvent = random.between(1, 20);
    if (auditEvent <= 9) job.say(random.between(1, 4));
    else if (auditEvent <= 11) job.announce();
    else if (auditEvent <= 15) await job.store();
    else if (auditEvent <= 17) {
      // The old owner learns of the move later. Until then it serves its readers a stale feed.
      const to = random.pick(live());
      if (to !== from) {
        const late = random.chance(0.3) ? from.feeds.get("job_1") : undefined;
        const drop = (): void => (late === from.feeds.get("job_1") ? from.drop("job_1") : undefined);
        if (late !== undefined) world.clock.schedule(random.between(1, 400), drop);
        else from.drop("job_1");
        job.move(to, random.chance(0.6));
        late?.push([status("queued")]);
      }
    } else if (auditEvent === 18 && live().length > 2) {
      await from.kill();
      await world.pass(random.pick([0, 200, 1_500]), 100);
      job.move(random.pick(live()), random.chance(0.6));
    } else if (auditEvent === 19) {
      const { bus } = random.pick(live());
      bus.downReason = "no connection";
      world.clock.schedule(random.between(10, 3_000), () => (bus.downReason = null));
    } else await world.pass(1_000, 100);
    reconnect(0.5);
    await world.pass(random.pick([0, 1, 10, 100]), 10);
  }
  for (const { bus } of live()) {
    bus.faults = NO_FAULTS;
    bus.downReason = null;
  }
  await job.store();
  const final = job.owner.feeds.get("job_1") ?? expect.fail("Its owner has no job");
  world.end(job.owner);
  isOver = true;
  for (let second = 0; second < 20 && readers.some(({ isDone }) => !isDone); second += 1) {
    reconnect(1);
    await world.pass(1_000, 100);
  }
  const outputs = final.items.filter(({ type }) => type !== "status");
  for (const reader of readers) expect([reader.isDone, textOf(reader.items)]).toEqual([true, textOf(outputs)]);
  expect(sides.flatMap(({ warnings }) => warnings)).toEqual([]);
  world.close();
}
