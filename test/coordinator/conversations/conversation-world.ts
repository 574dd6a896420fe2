import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect } from "vitest";
import type { ChatMessage } from "../../../shared/chat-input.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { runFrames } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

export let coordinator: TestCoordinator;
export let account: { id: string; key: string; islandToken: string };

export function setUp(): void {
  beforeEach(async () => {
    coordinator = await TestCoordinator.open();
    account = await coordinator.createAccount("client@example.com");
  });
  afterEach(async () => {
    expect(coordinator.fatal).toEqual([]);
    const report = await coordinator.withStore((store) => store.ledger.verify());
    expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
    await coordinator[Symbol.asyncDispose]();
  });
}

export const join = (hostId: string = randomUUID(), more = {}): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId, ...more });
export const api = (method: string, path: string, body?: unknown, key = account.key) =>
  call(coordinator.url, key, method, path, body);
export const messagesOf = ({ input }: Assign): ChatMessage[] => input["messages"] as ChatMessage[];
export const contentsOf = (assign: Assign): string[] => messagesOf(assign).map(({ content }) => content);

export async function create(body: object = {}): Promise<string> {
  const created = await api("POST", "/conversations", body);
  expect(created.status).toBe(201);
  return created.body.data.id as string;
}

export const post = (id: string, body: object) => api("POST", `/conversations/${id}/messages`, body);

/** Sends a message and lets `island` answer it with `texts`. */
export async function say(island: FakeIsland, id: string, content: string, ...texts: string[]): Promise<Assign> {
  const answered = post(id, { content });
  const assign = await island.next("assign");
  island.send(...runFrames(assign, ...texts));
  expect((await answered).status).toBe(200);
  return assign;
}

/**
 * Opens the stream of a posted message. Returns its first event, the job's events, and the response, which can be
 * closed.
 */
export async function openStream(id: string, body: object, signal?: AbortSignal) {
  const response = await fetch(`${coordinator.url}/api/v1/conversations/${id}/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify({ ...body, stream: true }),
    ...(signal === undefined ? {} : { signal }),
  });
  return response;
}
