/** Entry of the child process that generates images with one pipeline. Only `HostProcess` starts it. */
import { serveHost } from "../host/serve-host.ts";
import type { LoadRequest, ProbeRequest } from "./host-requests.ts";
import type { ImageJob } from "./image-input.ts";

serveHost<ProbeRequest, LoadRequest, ImageJob>({
  name: "ONNX Runtime",
  async probe({ device }) {
    const { probeDiffusers } = await import("./probe-diffusers.ts");
    return probeDiffusers(device);
  },
  async estimate(request) {
    const { estimateDiffusers } = await import("./estimate-diffusers.ts");
    return estimateDiffusers(request);
  },
  async load(request) {
    const { loadPipeline } = await import("./load-pipeline.ts");
    return loadPipeline(request);
  },
});
