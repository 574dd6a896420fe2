import type { ServerResponse } from "node:http";
import { WaitingChanges, type Change } from "../../events/change.ts";
import type { OwnedIsland } from "../../islands/island-service.ts";
import type { HttpDeps } from "../http-deps.ts";
import { type AccountEvent, presentAccount, presentJobChange } from "../schemas/account-schemas.ts";
import { presentIsland } from "../schemas/island-schemas.ts";
import { presentCredits } from "../schemas/wire-units.ts";
import type { OverviewReader } from "./overview-feed.ts";
import { HEARTBEAT, SSE_HEADERS } from "./sse.ts";

const MAX_CHANGES = 100;

/**
 * Writes the changes of an account to a client until it disconnects. The first event is `reset`; the client gets every
 * later change.
 * @param mayRead Whether the credential is still valid; called at every heartbeat and before each overview. False ends
 * the stream.
 * @param openOverviews Opens the network's overviews; null unless an operator requested them.
 */
export function relayEvents(
  { clock, events, islands, store, options }: HttpDeps,
  accountId: string,
  response: ServerResponse,
  mayRead: () => Promise<boolean>,
  openOverviews: ((onChange: () => void) => OverviewReader) | null,
): void {
  const waiting = new WaitingChanges();
  let overview: OverviewReader | null = null;
  /** Balance in micro-credits that the client knows; null before the first read. */
  let balance: number | null = null;
  let isWriting = false;

  const write = async (text: string): Promise<void> => {
    if (text === "" || response.destroyed || response.writableEnded) return;
    await new Promise<void>((resolve) => {
      // The callback of `write` may never be called if the connection closes.
      response.once("close", resolve);
      response.write(text, () => {
        response.off("close", resolve);
        resolve();
      });
    });
  };

  /** Returns the event of a changed balance; "" if the client already knows the balance. */
  const balanceFrame = async (): Promise<string> => {
    const account = await store.accounts.get(accountId);
    if (account === undefined) return "";
    const before = balance;
    balance = account.balanceMicro;
    return before === null || before === balance ? "" : frame({ type: "balance", balance: presentCredits(balance) });
  };

  const frameOf = async (change: Change, island: OwnedIsland | undefined): Promise<string> => {
    if (change.type === "job") return frame(presentJobChange(change));
    if (change.type === "balance") return balanceFrame();
    if (change.type === "island") {
      if (island === undefined) return frame({ type: "island_removed", id: change.id });
      return frame({ type: "island", ...presentIsland(island), online: island.status !== "offline" });
    }
    const account = await store.accounts.get(accountId);
    balance = account?.balanceMicro ?? balance;
    return account === undefined ? "" : frame({ type: "account", ...presentAccount(account) });
  };
  const changeFrames = async (): Promise<string> => {
    const changes = waiting.take(MAX_CHANGES);
    if (changes === null) return frame({ type: "reset" });
    const hostIds = changes.flatMap((change) => (change.type === "island" ? [change.id] : []));
    const found = hostIds.length === 0 ? [] : await islands.some(accountId, hostIds);
    const byId = new Map(found.map((island) => [island.record.hostId, island]));
    let text = "";
    for (const change of changes) text += await frameOf(change, "id" in change ? byId.get(change.id) : undefined);
    return text;
  };
  const overviewFrame = async (reader: OverviewReader): Promise<string> => {
    const data = reader.take();
    if (await mayRead()) return `event: overview\ndata: ${data}\n\n`;
    response.destroy();
    return "";
  };

  /** Calls `first` and writes all pending changes. One call runs at a time. */
  const pump = async (first: () => Promise<void>): Promise<void> => {
    if (isWriting) return;
    isWriting = true;
    try {
      await first();
      while (!response.destroyed) {
        if (!waiting.isEmpty) await write(await changeFrames());
        else if (overview?.hasChanged() === true) await write(await overviewFrame(overview));
        else break;
      }
    } catch {
      // Storage is unavailable. The client reconnects and gets a `reset`.
      response.destroy();
    }
    isWriting = false;
    if (events.closed.aborted) response.end();
  };
  const wake = (): void => void pump(async () => undefined);

  const beat = (): void => {
    heartbeat = clock.schedule(options.heartbeatMs, beat);
    mayRead().then(
      (may) => may || response.destroy(),
      () => undefined,
    );
    void pump(async () => {
      await write(HEARTBEAT);
      // The balance is read again: a grant of credits is reported before it is stored, and may be stored late.
      await write(await balanceFrame());
    });
  };

  if (response.destroyed) return;
  response.writeHead(200, SSE_HEADERS);
  const stream = events.open(accountId, (changes) => {
    if (changes === null) waiting.reset();
    for (const change of changes ?? []) waiting.add(change);
    wake();
  });
  let heartbeat = clock.schedule(options.heartbeatMs, beat);
  response.once("close", () => {
    heartbeat.cancel();
    overview?.close();
    stream.close();
  });
  void pump(async () => {
    await stream.ready;
    await balanceFrame();
    waiting.reset();
    if (!response.destroyed) overview = openOverviews?.(wake) ?? null;
  });
}

function frame(event: AccountEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
