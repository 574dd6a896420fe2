import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import type { Timer } from "../../shared/clock.ts";
import { isTerminal, nextState, type JobEvent, type JobState } from "../../shared/job-state.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { OutputItem } from "../../shared/output.ts";
import type { FeedItem, JobInput, LiveJobRecord } from "../store/job-store.ts";
import { Feed } from "./feed.ts";

/** What a job's input says about its end and its continuation. */
export interface JobTraits {
  /** Most tokens that the client asked for; null where tokens mean nothing. */
  readonly maxTokens: number | null;
  /** Another Island can go on after the text that was delivered. */
  readonly canContinue: boolean;
}

/** A job that has not ended, as the coordinator's event loop holds it. Its only writer is the dispatcher. */
export class LiveJob {
  readonly id: string;
  readonly accountId: string;
  readonly batchId: string | null;
  readonly slug: string;
  readonly priority: number;
  readonly priceMicro: number;
  readonly createdAtMs: number;
  waitDeadlineMs: number;
  /** When it began to compete for Islands: a job of a batch when it was admitted, any other when it was made. */
  waitsSinceMs: number;
  readonly feed: Feed;
  #state: JobState;
  /** Attempts begun; the present one's number while the job is queued or running. */
  attempt: number;
  /** The Island that has the job; null while it is pending. */
  islandId: string | null;
  startedAtMs: number | null;
  /** Islands that lost or refused the job: they are asked last. */
  readonly avoidIslands = new Set<string>();
  /** Last numbered frame taken of the present attempt. */
  lastSeq = 0;
  /** Last numbered frame of the present attempt that is durable. */
  durableSeq = 0;
  /** Feed items not yet handed to the store: states wait for the next output, as nobody is owed their durability. */
  unsaved: FeedItem[] = [];
  /** Kept only from submission to the first decision, so that an idle network never reads it back. */
  input: JobInput | null = null;
  traits: JobTraits | null = null;
  /** The Cargo that the job was accepted for: it runs that one, whatever becomes of the slug. */
  cargo: CatalogEntry | null = null;
  /** Counts against its account's quota of unfinished jobs; the dispatcher gives the place back when the end is durable. */
  hasPlace = false;
  /** Bytes of output taken over all attempts, each item with a little for itself. */
  outputBytes = 0;
  /** Resolves when the present attempt is durable, before which nothing of it is said; null when it is. */
  assigned: Promise<void> | null = null;
  /** Resolves when the job's end is durable; null before it has ended. */
  settled: Promise<void> | null = null;
  /** The wait limit's timer until the start, then the run limit's. */
  deadline: Timer | null = null;

  constructor(record: LiveJobRecord, feed: Feed = new Feed(record.id)) {
    this.id = record.id;
    this.accountId = record.accountId;
    this.batchId = record.batchId;
    this.slug = record.slug;
    this.priority = record.priority;
    this.priceMicro = record.priceMicro;
    this.createdAtMs = record.createdAtMs;
    this.waitDeadlineMs = record.waitDeadlineMs;
    this.waitsSinceMs = record.createdAtMs;
    this.#state = record.state;
    this.attempt = record.attempt;
    this.islandId = record.islandId;
    this.startedAtMs = record.startedAtMs;
    this.feed = feed;
  }

  get state(): JobState {
    return this.#state;
  }

  get hasEnded(): boolean {
    return isTerminal(this.#state);
  }

  /** @throws {IllegalTransitionError} */
  apply(event: JobEvent): void {
    this.#state = nextState(this.#state, event);
  }

  /** Adds a state to the feed; readers see it at once. */
  announce(state: string): void {
    this.say([{ type: "status", state }]);
  }

  say(items: readonly FeedItem[]): void {
    this.unsaved.push(...items);
    this.feed.push(items, this.attempt);
  }

  /** The items that the store has not been given yet; it is given them now. */
  takeUnsaved(): FeedItem[] {
    const items = this.unsaved;
    this.unsaved = [];
    return items;
  }
}

/** No Cargo makes more; an image of 4,096 pixels a side has less. */
const MAX_OUTPUT_BYTES = 64 * 1_024 * 1_024;
const MAX_BYTES_PER_TOKEN = 1_024;
const BYTES_PER_ITEM = 64;

/** Counts output against what the job can have asked for. False when it is more. */
export function admitOutput(job: LiveJob, items: readonly OutputItem[]): boolean {
  let tokens = job.feed.tokens;
  for (const item of items) {
    job.outputBytes += BYTES_PER_ITEM;
    if (item.type === "token") {
      tokens += item.count;
      job.outputBytes += item.content.length;
    } else if (item.type === "image") job.outputBytes += item.data.length;
  }
  const maxTokens = job.traits?.maxTokens ?? null;
  if (maxTokens === null) return job.outputBytes <= MAX_OUTPUT_BYTES;
  return tokens <= maxTokens && job.outputBytes <= (maxTokens + 1) * MAX_BYTES_PER_TOKEN;
}

/** Grammars cannot be entered in the middle, so an answer in JSON is not continued. */
export function traitsOf(input: JobInput, isChat: boolean): JobTraits {
  const parsed = isChat ? chatInputSchema.safeParse(input) : undefined;
  if (parsed === undefined || !parsed.success) return { maxTokens: null, canContinue: false };
  const request = chatRequestOf(parsed.data);
  return { maxTokens: request.maxTokens, canContinue: request.responseFormat.type === "text" };
}
