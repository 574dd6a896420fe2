import { Readable } from "node:stream";
import { z } from "zod";
import type { Clock } from "../../shared/clock.ts";
import { parseJson, readBody } from "../models/download/json-body.ts";

const share = z.number().min(0).max(1).nullable();
const credits = z.number();

/** A text without control characters, which could move the cursor. */
const line = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    // oxlint-disable-next-line no-control-regex -- They are removed.
    .transform((text) => text.replaceAll(/[\u0000-\u001F\u007F-\u009F]/g, ""));

const standingSchema = z.object({
  cargo: line(200),
  state: line(40),
  streak: z.int(),
  reason: line(1_000).nullable(),
  proven_after: z.int(),
  held_credits: credits,
});
export type ShownStanding = z.infer<typeof standingSchema>;

/** The coordinator's report of this Island's work and earnings. Strict, because it appears on the owner's terminal. */
const earningsSchema = z.object({
  name: line(300),
  uptime: z.object({ today: share, days_7: share, days_30: share }),
  earned: z.object({ today: credits, days_7: credits, days_30: credits }),
  recent: z.array(z.object({ job_id: z.string().max(64), credits })).max(1_000),
  /** What audits found out, by Cargo. Earlier versions do not report it. */
  standings: z.array(standingSchema).max(1_000).default([]).catch([]),
});
export type Earnings = z.infer<typeof earningsSchema>;

const MAX_RESPONSE_WAIT_MS = 3_000;
const MAX_RESPONSE_BYTES = 200_000;

/** Earnings are null when the coordinator does not respond, or is an earlier version. */
export interface EarningsReport {
  readonly earnings: Earnings | null;
  /** How far this machine's clock is ahead of the coordinator's, to within seconds; null without a `Date` header. */
  readonly clockAheadMs: number | null;
}

/** Requests this Island's earnings from the coordinator. Never rejects. */
export async function fetchEarnings(
  {
    coordinatorUrl,
    hostId,
    token,
  }: { readonly coordinatorUrl: string; readonly hostId: string; readonly token: string },
  clock: Pick<Clock, "now">,
): Promise<EarningsReport> {
  try {
    const url = new URL(`${coordinatorUrl.replace(/\/+$/, "")}/api/v1/island/earnings`);
    url.searchParams.set("host_id", hostId);
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(MAX_RESPONSE_WAIT_MS),
    });
    const coordinatorMs = Date.parse(response.headers.get("date") ?? "");
    const clockAheadMs = Number.isNaN(coordinatorMs) ? null : clock.now() - coordinatorMs;
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      return { earnings: null, clockAheadMs };
    }
    const body = await readBody(Readable.fromWeb(response.body), MAX_RESPONSE_BYTES, "the earnings");
    const parsed = z.object({ data: earningsSchema }).safeParse(parseJson(body));
    return { earnings: parsed.data?.data ?? null, clockAheadMs };
  } catch {
    return { earnings: null, clockAheadMs: null };
  }
}
