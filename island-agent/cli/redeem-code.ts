import { Readable } from "node:stream";
import { z } from "zod";
import { CliError } from "../../shared/errors.ts";
import { isIslandToken } from "../config/agent-settings.ts";
import { parseJson, readBody } from "../models/download/json-body.ts";

const MAX_ANSWER_WAIT_MS = 10_000;
const MAX_ANSWER_BYTES = 10_000;
const CREATED = 201;

const answerSchema = z.object({ data: z.object({ token: z.string().refine(isIslandToken) }) });

/** What the coordinator's own text would say, which may be anything on the owner's terminal. */
const REASONS: Readonly<Record<number, string>> = {
  404: "the pairing code is wrong, used or older than ten minutes: make a new one",
  422: "the account of the pairing code has too many Island tokens: revoke one",
  429: "too many pairing codes were tried: try again in a minute, or join with --token",
};

/** Exchanges a pairing code for an Island token, which the coordinator shows this once. @throws {CliError} */
export async function redeemCode(coordinatorUrl: string, code: string): Promise<string> {
  let response: Response;
  try {
    response = await fetch(`${coordinatorUrl.replace(/\/+$/, "")}/api/v1/island/pair`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
      // The code goes to the address that showed the right key, and nowhere else.
      redirect: "error",
      signal: AbortSignal.timeout(MAX_ANSWER_WAIT_MS),
    });
  } catch (cause) {
    throw new CliError(`Not joined: ${coordinatorUrl} does not answer. The code is used if it got there`, { cause });
  }
  if (response.status !== CREATED || response.body === null) {
    await response.body?.cancel();
    throw new CliError(`Not joined: ${REASONS[response.status] ?? `the coordinator answered ${response.status}`}`);
  }
  const text = await readBody(Readable.fromWeb(response.body), MAX_ANSWER_BYTES, "the coordinator's answer");
  const answer = answerSchema.safeParse(parseJson(text));
  if (!answer.success) throw new CliError("Not joined: the coordinator's answer has no Island token");
  return answer.data.data.token;
}
