/** Entry of the child process that draws pictures with one pipeline. Started by `HostProcess` and by nothing else. */
import { serveHost } from "../host/serve-host.ts";
import type { LoadOrder, ProbeOrder } from "./host-requests.ts";
import type { PictureJob } from "./picture-input.ts";

serveHost<ProbeOrder, LoadOrder, PictureJob>({
  name: "ONNX Runtime",
  async probe({ device }) {
    const { probeDiffusers } = await import("./probe-diffusers.ts");
    return probeDiffusers(device);
  },
  async estimate(order) {
    const { estimateDiffusers } = await import("./estimate-diffusers.ts");
    return estimateDiffusers(order);
  },
  async load(order) {
    const { loadPipeline } = await import("./load-pipeline.ts");
    return loadPipeline(order);
  },
});
