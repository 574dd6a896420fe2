import type { Clock } from "../../shared/clock.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { CallerQuota, ReleaseStream, RequestCaller } from "../quotas/caller-quota.ts";
import type { RequestCount } from "../quotas/request-window.ts";
import type { Members } from "./members.ts";
import { QuotaHomes, quotaSubject } from "./quota-homes.ts";
import { SharedRequests, type RequestsAnswer, type RequestsQuestion } from "./shared-requests.ts";
import { SharedStreams, type StreamsAnswer, type StreamsQuestion } from "./shared-streams.ts";

export interface NetworkQuotaDeps {
  readonly members: Members;
  readonly bus: Bus;
  readonly clock: Clock;
}

type Question = RequestsQuestion | StreamsQuestion;

/**
 * Requests and open streams, counted for the network: by the coordinator that is the home of the account, which others ask on the
 * subject `<id>.quota`. While the home is out of reach each coordinator grants its part of a limit.
 */
export class NetworkQuota implements CallerQuota {
  readonly #requests: SharedRequests;
  readonly #streams: SharedStreams;
  readonly #subscriptions: readonly Unsubscribe[];

  constructor({ members, bus, clock }: NetworkQuotaDeps) {
    const homes = new QuotaHomes({ members, bus, clock });
    this.#requests = new SharedRequests(clock, members, homes);
    this.#streams = new SharedStreams(clock, members, homes);
    this.#subscriptions = [
      bus.answer(quotaSubject(members.self.id), async (question) => this.#answer(question as Question)),
      members.onChange(() => this.#streams.refresh()),
      bus.onChange(() => this.#streams.refresh()),
    ];
  }

  countRequest(caller: RequestCaller): RequestCount | Promise<RequestCount> {
    return this.#requests.count(caller);
  }

  openStream(accountId: string, limit: number): ReleaseStream | Promise<ReleaseStream> {
    return this.#streams.open(accountId, limit);
  }

  /** Streams that close afterwards are not told any more: a coordinator that leaves has none. */
  close(): void {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#streams.close();
  }

  #answer(question: Question): RequestsAnswer | StreamsAnswer {
    if (question.kind === "requests") return this.#requests.grant(question);
    if (question.kind === "streams") return this.#streams.note(question);
    throw new Error("A question about another quota than this version knows");
  }
}
