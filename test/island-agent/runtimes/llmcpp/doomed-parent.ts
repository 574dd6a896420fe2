/** A program that loads a model, brings it into a state, prints the pid of the host process and waits to be killed. */
import { HANGING_INPUT, makeCargo, makeRequest, makeRuntime, NEVER } from "./llmcpp-support.ts";

const [state = "", endless = "", hanging = ""] = process.argv.slice(2);
const llm = await makeRuntime().load(
  makeCargo({ contextTokens: 8_192 }),
  state === "hanging" ? hanging : endless,
  NEVER,
);
const sendPid = (): void => void process.send?.(llm.pid);

if (state === "writing") {
  await llm.run(makeRequest({ prompt: "hi", max_tokens: 4_096 }), () => sendPid(), NEVER);
} else {
  if (state === "hanging") void llm.run(makeRequest(HANGING_INPUT), () => {}, NEVER);
  sendPid();
}
