import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Atoll, ConnectionError, NotFoundError } from "../../sdk/typescript/src/index.ts";
import { collect } from "../support/http/http.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { CARGO, finished, output, QUICK, SdkFixture, token } from "./sdk-fixture.ts";

let fixture: SdkFixture;
beforeAll(async () => {
  fixture = await SdkFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.proxy.script());

async function respond(...pieces: string[]): Promise<void> {
  const assign = await fixture.taken();
  fixture.island.send(output(assign, 1, ...pieces.map(token)), finished(assign, 2));
}

describe("conversations", () => {
  it("are created, changed, listed and deleted", async () => {
    const { conversations } = fixture.client();
    const { id } = await conversations.create({ title: "Boats", model: CARGO, system_prompt: "Be brief." });
    expect((await conversations.update(id, { title: "Ships" })).title).toBe("Ships");
    expect(await conversations.get(id)).toMatchObject({ id, title: "Ships", system_prompt: "Be brief." });
    const second = await conversations.create();
    expect((await collect(conversations.list({ pageSize: 1 }))).map((each) => each.id)).toEqual([second.id, id]);
    fixture.proxy.script({ kind: "swallow" });
    await conversations.delete(second.id);
    await expect(conversations.get(second.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("answer messages and store them", async () => {
    const { conversations } = fixture.client();
    const { id } = await conversations.create({ model: CARGO });
    const sent = conversations.send(id, { content: "Hi" });
    await respond("Hel", "lo");
    expect(await sent).toMatchObject({ message: { role: "assistant", content: "Hello" }, usage: { total_tokens: 8 } });
    const again = conversations.send(id, { content: "Again" });
    await respond("Yes");
    await again;
    const messages = await collect(conversations.messages(id, { pageSize: 3 }));
    expect(messages.map(({ content }) => content)).toEqual(["Hi", "Hello", "Again", "Yes"]);
    const newest = await conversations.messages(id, { order: "desc", pageSize: 1 }).page();
    expect(newest).toMatchObject({ data: [{ content: "Yes" }], meta: { total: 4 } });
  });

  it("stream an answer, and throw if the connection breaks", async () => {
    const { conversations } = fixture.client();
    const { id } = await conversations.create({ model: CARGO });
    const streamed = collect(conversations.stream(id, { content: "Hi" }));
    await respond("Hel", "lo");
    const events = await streamed;
    expect(events[0]).toMatchObject({ type: "message", conversation_id: id, user_message: { content: "Hi" } });
    expect(events.map((event) => (event.type === "token" ? event.content : "")).join("")).toBe("Hello");
    expect(events.at(-1)?.type).toBe("done");

    fixture.proxy.script({ kind: "end", afterBytes: 700 });
    const cut = collect(conversations.stream(id, { content: "Again" }));
    const expected = expect(cut).rejects.toBeInstanceOf(ConnectionError);
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("a".repeat(1_000))));
    await expected;
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("send a message only once if no Island is available, with one stored question and one job", async () => {
    await using coordinator = await TestCoordinator.open({ chatWaitS: "0.02" });
    const { key: apiKey } = await coordinator.createAccount("asker@example.com");
    const atoll = new Atoll({ baseUrl: coordinator.url, apiKey, ...QUICK });
    const { id } = await atoll.conversations.create({ model: CARGO });
    const refused = atoll.conversations.send(id, { content: "Only once" });
    await expect(refused).rejects.toMatchObject({ name: "ServiceUnavailableError", code: "no_island_available" });
    const messages = await collect(atoll.conversations.messages(id));
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "Only once"],
      ["assistant", ""],
    ]);
    expect((await atoll.jobs.list().page()).meta.total).toBe(1);
  });
});
