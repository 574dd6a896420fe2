/** Entry of the child process that runs llama.cpp for one model. Only `HostProcess` starts it. */
import type { ChatRequest } from "../../../shared/chat-input.ts";
import { serveHost } from "../host/serve-host.ts";
import type { LoadRequest, ProbeRequest } from "./host-requests.ts";
import type { TextJob } from "./load-text-model.ts";

serveHost<ProbeRequest, LoadRequest, ChatRequest | TextJob>({
  name: "llama.cpp",
  async probe(request) {
    const { probeLlama } = await import("./probe-llama.ts");
    return probeLlama(request);
  },
  async estimate(request) {
    const { estimateModel } = await import("./estimate-model.ts");
    return estimateModel(request);
  },
  async load(request) {
    if (request.task !== null) {
      const { loadTextModel } = await import("./load-text-model.ts");
      return loadTextModel(request, request.task);
    }
    const { loadChatModel } = await import("./load-model.ts");
    return loadChatModel(request);
  },
});
