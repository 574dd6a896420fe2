/** Entry of the child process that runs one WebAssembly Cargo. Only `HostProcess` starts it. */
import { serveHost } from "../host/serve-host.ts";
import type { LoadRequest, WasmJob } from "./host-requests.ts";

serveHost<null, LoadRequest, WasmJob>({
  name: "WebAssembly",
  async probe() {
    return { usable: true, version: `V8 ${process.versions.v8}, WASI preview 1` };
  },
  async load(request) {
    const { loadModule } = await import("./load-module.ts");
    return loadModule(request);
  },
});
