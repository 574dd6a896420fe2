/** Entry of the child process that runs ONNX Runtime for one model. Only `HostProcess` starts it. */
import { serveHost } from "../host/serve-host.ts";
import type { LoadRequest } from "./host-requests.ts";
import type { OnnxJob } from "./onnx-input.ts";

serveHost<null, LoadRequest, OnnxJob>({
  name: "ONNX Runtime",
  async probe() {
    const { probeOnnx } = await import("./probe-onnx.ts");
    return probeOnnx();
  },
  async load(request) {
    if (request.task === null) {
      const { loadTensorModel } = await import("./tensor-model.ts");
      return loadTensorModel(request);
    }
    const { loadTaskModel } = await import("./task-model.ts");
    return loadTaskModel(request, request.task);
  },
});
